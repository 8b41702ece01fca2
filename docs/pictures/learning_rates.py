"""Three schedules of the learning rate."""

from matplotlib import pyplot

from burnpy import lr_scheduler

schedules = {
    "cosine": lr_scheduler.CosineAnnealingLrSchedulerConfig(1.0, 100),
    "linear": lr_scheduler.LinearLrSchedulerConfig(1.0, 0.1, 100),
    "noam": lr_scheduler.NoamLrSchedulerConfig(11.3, warmup_steps=20, model_size=640),
}
figure, axes = pyplot.subplots(figsize=(6, 3))
for name, config in schedules.items():
    schedule = config.init()
    axes.plot([schedule.step().base() for _ in range(100)], label=name)
axes.set(xlabel="step", ylabel="learning rate")
axes.legend()
