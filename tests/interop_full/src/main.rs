//! What the published Burn computes with files that burnpy wrote, and how it goes on with them: the other side of
//! the tests in this folder.
//!
//! ```text
//! burnpy-interop-full module REQUEST      loads a module's record and runs the module
//! burnpy-interop-full optimizer REQUEST   loads a module and its optimizer, and makes steps with given gradients
//! burnpy-interop-full lbfgs REQUEST       the same for L-BFGS, with gradients of its own
//! burnpy-interop-full scheduler REQUEST   loads a scheduler and asks for the next rates
//! burnpy-interop-full training REQUEST    trains in a folder, from the start or from a checkpoint in it
//! ```
//!
//! `REQUEST` is a file of JSON, the answer a line of JSON. What Burn refuses ends the program with Burn's words.

mod layers;
mod lbfgs;
mod optimizer;
mod parameters;
mod request;
mod scheduler;
mod training;
mod user_modules;

use request::Request;
use std::env;
use std::process::ExitCode;

const USAGE: &str = "usage: burnpy-interop-full (module | optimizer | lbfgs | scheduler | training) REQUEST";

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let [verb, path] = &args[..] else {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    };
    let request = Request::read(path);
    let answer = match verb.as_str() {
        "module" => layers::run(&request).unwrap_or_else(|| user_modules::run(&request)),
        "optimizer" => optimizer::run(&request),
        "lbfgs" => lbfgs::run(&request),
        "scheduler" => scheduler::run(&request),
        "training" => training::run(&request),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    println!("{answer}");
    ExitCode::SUCCESS
}
