//! A training by Burn's own loop, in a folder that may hold burnpy's checkpoints; the models are those of
//! `tests/train/burn_runs.py`.

use crate::optimizer::optimizer;
use crate::parameters::values;
use crate::request::{Request, config, data};
use burn::data::dataloader::batcher::Batcher;
use burn::data::dataloader::{DataLoader, DataLoaderBuilder};
use burn::data::dataset::InMemDataset;
use burn::lr_scheduler::module_lr_scheduler::ModuleLrSchedulerConfig;
use burn::module::Module;
use burn::nn::loss::{CrossEntropyLossConfig, MseLoss, Reduction};
use burn::nn::{BatchNorm, BatchNormConfig, LayerNorm, LayerNormConfig, Linear, LinearConfig, Relu, Tanh};
use burn::store::ModuleRecord;
use burn::tensor::{Device, Int, Tensor, TensorData};
use burn::train::checkpoint::KeepLastNCheckpoints;
use burn::train::logger::{EvaluationProgressLogger, TrainingProgressLogger};
use burn::train::metric::{AccuracyMetric, LearningRateMetric, LossMetric, MetricDefinition};
use burn::train::renderer::{
    EvaluationName, MetricState, MetricsRenderer, MetricsRendererEvaluation, MetricsRendererTraining,
};
use burn::train::{
    ClassificationOutput, InferenceStep, Learner, LearnerModel, LearnerSummary, RegressionOutput,
    SupervisedTraining, TrainOutput, TrainStep,
};
use serde_json::Value;
use std::error::Error;
use std::sync::Arc;

/// The final parameters; losses are in the files of the folder.
pub fn run(request: &Request) -> Value {
    let [d_input, hidden, d_output] = request.sizes();
    let device = Device::flex().autodiff();
    match request.text("model") {
        "Regression" => {
            let training = training(request).metrics((LossMetric::new(), LearningRateMetric::new()));
            launch(request, training, Regression::new(d_input, hidden, d_output, &device))
        }
        norm => {
            let metrics = (AccuracyMetric::new(), LossMetric::new());
            let training = training(request).metrics(metrics).metric_train_numeric(LearningRateMetric::new());
            launch(
                request,
                training,
                Classification::new(d_input, hidden, d_output, norm == "BatchNorm", &device),
            )
        }
    }
}

fn training<M>(request: &Request) -> SupervisedTraining<M>
where
    M: LearnerModel + TrainStep<Input = Batch> + InferenceStep<Input = Batch>,
{
    let (train, valid) = (loader(request, "train"), loader(request, "valid"));
    let mut training = SupervisedTraining::<M>::new(request.text("folder"), train, valid)
        .num_epochs(request.size("epochs"))
        .with_default_checkpointers()
        .with_checkpointing_strategy(KeepLastNCheckpoints::new(100))
        .with_application_logger(None)
        .renderer(Box::new(Quiet));
    if let Some(batches) = request.get("accumulation").as_u64() {
        training = training.grads_accumulation(batches as usize);
    }
    match request.get("checkpoint").as_u64() {
        Some(epoch) => training.checkpoint(epoch as usize),
        None => training,
    }
}

fn launch<M: LearnerModel>(request: &Request, training: SupervisedTraining<M>, model: M) -> Value {
    let model = match request.get("record").as_str() {
        Some(path) => model.load_record(ModuleRecord::load(path).expect("a record that Burn reads")),
        None => model,
    };
    let optim = optimizer(request.list("rules"));
    let rates: ModuleLrSchedulerConfig = config(request.get("rates"));
    let result = training.launch(Learner::new(model, optim, rates.init().expect("rates")));
    if let Some(error) = result.error {
        panic!("the training failed: {error}");
    }
    values(&result.model)
}

// ---- data

#[derive(Clone, Debug)]
struct Row {
    x: Vec<f32>,
    y: Vec<f32>,
    class: i64,
}

#[derive(Clone, Debug)]
struct Batch {
    x: Tensor<2>,
    y: Tensor<2>,
    class: Tensor<1, Int>,
}

struct RowBatcher;

impl Batcher<Row, Batch> for RowBatcher {
    fn batch(&self, rows: Vec<Row>, device: &Device) -> Batch {
        let classes: Vec<i64> = rows.iter().map(|row| row.class).collect();
        let count = classes.len();
        let (xs, ys): (Vec<_>, Vec<_>) = rows.into_iter().map(|row| (row.x, row.y)).unzip();
        Batch {
            x: matrix(xs, device),
            y: matrix(ys, device),
            class: Tensor::from_data(TensorData::new(classes, [count]), device),
        }
    }
}

fn matrix(rows: Vec<Vec<f32>>, device: &Device) -> Tensor<2> {
    let shape = [rows.len(), rows[0].len()];
    Tensor::from_data(TensorData::new(rows.concat(), shape), device)
}

/// Rows in their order, `{"batch_size": .., "x": tensor, "y": tensor, "class": tensor}`.
fn loader(request: &Request, split: &str) -> Arc<dyn DataLoader<Batch>> {
    let given = request.get(split);
    let floats = |key: &str| -> Vec<f32> { data(&given[key]).iter::<f32>().collect() };
    let (x, y, classes) = (floats("x"), floats("y"), floats("class"));
    let rows = classes.iter().enumerate().map(|(i, class)| Row {
        x: row(&x, i, classes.len()),
        y: row(&y, i, classes.len()),
        class: *class as i64,
    });
    let batch_size = given["batch_size"].as_u64().expect("a size") as usize;
    DataLoaderBuilder::new(RowBatcher).batch_size(batch_size).build(InMemDataset::new(rows.collect()))
}

fn row(values: &[f32], index: usize, rows: usize) -> Vec<f32> {
    let width = values.len() / rows;
    values[index * width..(index + 1) * width].to_vec()
}

// ---- models

#[derive(Module, Debug)]
struct Regression {
    fc1: Linear,
    act: Tanh,
    fc2: Linear,
}

impl Regression {
    fn new(d_input: usize, hidden: usize, d_output: usize, device: &Device) -> Self {
        Self {
            fc1: LinearConfig::new(d_input, hidden).init(device),
            act: Tanh::new(),
            fc2: LinearConfig::new(hidden, d_output).init(device),
        }
    }

    fn run(&self, batch: Batch) -> RegressionOutput {
        let output = self.fc2.forward(self.act.forward(self.fc1.forward(batch.x)));
        let loss = MseLoss::new().forward(output.clone(), batch.y.clone(), Reduction::Mean);
        RegressionOutput::new(loss, output, batch.y)
    }
}

#[derive(Module, Debug)]
struct Classification {
    fc1: Linear,
    layer_norm: Option<LayerNorm>,
    batch_norm: Option<BatchNorm>,
    act: Relu,
    fc2: Linear,
}

impl Classification {
    fn new(d_input: usize, hidden: usize, classes: usize, batch_norm: bool, device: &Device) -> Self {
        Self {
            fc1: LinearConfig::new(d_input, hidden).init(device),
            layer_norm: (!batch_norm).then(|| LayerNormConfig::new(hidden).init(device)),
            batch_norm: batch_norm.then(|| BatchNormConfig::new(hidden).init(device)),
            act: Relu::new(),
            fc2: LinearConfig::new(hidden, classes).init(device),
        }
    }

    fn run(&self, batch: Batch) -> ClassificationOutput {
        let mut x = self.fc1.forward(batch.x);
        if let Some(norm) = &self.layer_norm {
            x = norm.forward(x);
        }
        if let Some(norm) = &self.batch_norm {
            x = norm.forward(x);
        }
        let output = self.fc2.forward(self.act.forward(x));
        let loss =
            CrossEntropyLossConfig::new().init(&output.device()).forward(output.clone(), batch.class.clone());
        ClassificationOutput::new(loss, output, batch.class)
    }
}

macro_rules! steps {
    ($($model:ident => $output:ident),*) => {$(
        impl TrainStep for $model {
            type Input = Batch;
            type Output = $output;

            fn step(&self, batch: Batch) -> TrainOutput<$output> {
                let item = self.run(batch);
                TrainOutput::new(self, item.loss.backward(), item)
            }
        }

        impl InferenceStep for $model {
            type Input = Batch;
            type Output = $output;

            fn step(&self, batch: Batch) -> $output {
                self.run(batch)
            }
        }
    )*};
}

steps!(Regression => RegressionOutput, Classification => ClassificationOutput);

// ---- a renderer that says nothing

struct Quiet;

impl MetricsRendererTraining for Quiet {
    fn update_train(&mut self, _: MetricState) {}
    fn update_valid(&mut self, _: MetricState) {}
    fn on_train_end(&mut self, _: Option<LearnerSummary>) -> Result<(), Box<dyn Error>> {
        Ok(())
    }
}

impl MetricsRendererEvaluation for Quiet {
    fn update_test(&mut self, _: EvaluationName, _: MetricState) {}
    fn on_test_end(&mut self, _: Option<LearnerSummary>) -> Result<(), Box<dyn Error>> {
        Ok(())
    }
}

impl TrainingProgressLogger for Quiet {
    fn start(&mut self, _: usize, _: usize, _: Option<usize>, _: Option<&str>) {}
    fn update_epoch(&mut self, _: usize) {}
    fn start_split(&mut self, _: &str, _: usize) {}
    fn update_split(&mut self, _: usize) {}
    fn end_split(&mut self) {}
    fn end(&mut self) {}
    fn log_event_training(&mut self, _: String) {}
}

impl EvaluationProgressLogger for Quiet {
    fn start_global_progress(&mut self, _: usize) {}
    fn start_test(&mut self, _: &str, _: usize) {}
    fn update_test_progress(&mut self, _: usize) {}
    fn end_test(&mut self) {}
    fn end_global_progress(&mut self) {}
    fn log_event_evaluation(&mut self, _: String) {}
}

impl MetricsRenderer for Quiet {
    fn manual_close(&mut self) {}
    fn register_metric(&mut self, _: MetricDefinition) {}
}
