//! Rates of a scheduler that goes on from a record.

use crate::request::{Request, config};
use burn::lr_scheduler::LrSchedulerRecord;
use burn::lr_scheduler::module_lr_scheduler::ModuleLrSchedulerConfig;
use burn::module::ParamId;
use serde_json::{Value, json};

/// The next rates: at each step the common one and those of some paths. The last state is written, too.
pub fn run(request: &Request) -> Value {
    let config: ModuleLrSchedulerConfig = config(request.get("config"));
    let record = LrSchedulerRecord::load(request.text("record")).expect("a record that Burn reads");
    let mut scheduler = config.init().expect("a scheduler").load_record(record);
    let paths: Vec<_> = request.list("paths").iter().map(|path| path.as_str()).collect();
    let mut rates = Vec::new();
    for _ in 0..request.size("steps") {
        let rate = scheduler.step();
        let of_path = |path: &Option<&str>| rate.lr_from_param(ParamId::from(1), *path);
        rates.push(json!({"base": rate.base(), "paths": paths.iter().map(of_path).collect::<Vec<_>>()}));
    }
    scheduler.to_record().save(request.text("saved")).expect("a record that Burn writes");
    json!(rates)
}
