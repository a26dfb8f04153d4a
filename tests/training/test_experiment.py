"""Sweeps over seeds and settings: execution, resuming, validation, results."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from agents.network.checkpoint import CheckpointError, save_network
from agents.network.network import TakiNetwork
from training.trainers import checkpoints, experiment, options, run_folder
from training.trainers.selfplay import SelfPlayTrainer

SWEEP = """
training = "selfplay"
runs = "{folder}/runs"
seeds = [0, 1]
[arguments]
players = [2]
steps = 256
games = 8
rollout = 16
batch_size = 64
hidden = 16
evaluate_seconds = 1e-9
evaluation_games = 4
final_games = 4
threads = 1
[settings.symmetric]
[settings.plain]
symmetric = false
"""


def sweep(folder: Path, text: str = SWEEP) -> experiment.ExperimentArgs:
    """Return the arguments for a sweep written into a folder."""
    file = folder / "sweep.toml"
    file.write_text(text.format(folder=folder))
    return experiment.ExperimentArgs(file)


def test_a_sweep_resumes_where_it_stopped_and_repeats_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C in the third run of four; then the rest of it and the fourth; then nothing."""
    iterate, done = SelfPlayTrainer.iterate, []

    def counted(trainer: SelfPlayTrainer) -> None:
        done.append(trainer.folder.relative_to(tmp_path / "runs"))
        if len(done) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        iterate(trainer)

    monkeypatch.setattr(SelfPlayTrainer, "iterate", counted)
    args = sweep(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        experiment.prepare(args)()
    assert len(done) == 5  # two rollouts of each run, one of the third
    assert "resume with: python -m training.experiment" in capsys.readouterr().out
    found = experiment.prepare(args)()
    folders = [Path(s, f"selfplay-seed{k}") for s in ("symmetric", "plain") for k in (0, 1)]
    assert done == [folder for folder in folders for _ in range(2)]
    assert experiment.prepare(args)() == found and len(done) == 8
    report = json.loads((tmp_path / "runs/experiment.json").read_text())
    assert report["finished"] and report["results"] == found
    assert (tmp_path / "runs/experiment.png").read_bytes().startswith(b"\x89PNG")


def test_the_table_has_mean_and_spread_over_seeds(tmp_path: Path) -> None:
    """Win rates 0.5 and 0.7: mean 0.6, standard deviation 0.1 times the root of 2."""
    jobs = [job for job in experiment.read_sweep(sweep(tmp_path).sweep) if job.setting == "plain"]
    for job, rate in zip(jobs, (0.5, 0.7), strict=True):
        job.folder.mkdir(parents=True)
        result = {"num_players": 2, "opponent": "greedy", "win_rate": rate}
        report = {
            "finished": True, "training_seconds": 1, "evaluation": [result],
            "configuration": options.plain(job.args),
        }  # fmt: skip
        (job.folder / run_folder.RESULTS_FILE).write_text(json.dumps(report))
    (row,) = experiment.rows(jobs)
    assert row["win_rates"] == [0.5, 0.7]
    assert row["mean"] == pytest.approx(0.6)
    assert row["sd"] == pytest.approx(0.1 * 2**0.5)


def test_each_run_can_start_from_its_own_network(tmp_path: Path) -> None:
    """{setting} and {seed} are replaced in text, also within a list."""
    start = 'start = "first/{{setting}}/selfplay-seed{{seed}}"'
    rules = 'rules = ["hand_size={{seed}}"]'
    changed = SWEEP.replace("threads = 1", f"threads = 1\n{start}\n{rules}")
    changed = changed.replace("seeds = [0, 1]", "seeds = [4, 5]")
    jobs = experiment.read_sweep(sweep(tmp_path, changed).sweep)
    assert [(vars(job.args)["start"], job.args.rules) for job in jobs] == [
        (f"first/{setting}/selfplay-seed{seed}", (f"hand_size={seed}",))
        for setting in ("symmetric", "plain")
        for seed in (4, 5)
    ]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('trainng = "selfplay"', "unknown 'trainng'.*training"),
        ('training = "league"', "selfplay, train"),
        ("seeds = []", "seeds"),
        ("seeds = [1, 1]", "seeds"),
        ("[settings.a]\nhiden = 3", "setting a: unknown 'hiden'.*hidden"),
        ("[settings.a]\nseed = 3", "setting a: seed"),
        ("[settings.a]\nepochs = 0", "setting a: --epochs"),
        ("[settings.a\n", "not valid TOML"),
        ("seeds = 3", "seeds must be"),
        ("arguments = 3", "arguments must be a table"),
        ("settings = 3", "settings must be a table"),
        ("settings = []", "settings must be a table"),
        ("[settings]\na = 3", "setting a: must be a table"),
        ('[settings."../a"]', "a folder name of at most 50"),
        ("runs = 3", "runs must be the name of a folder"),
        ('[arguments]\nsteps = "many"', "--steps must be int, got 'many'"),
        ("[arguments]\nsteps = true", "--steps must be int, got True"),
        ("[arguments]\nplayers = 3", "--players must be a list of int"),
        ("[arguments]\nhidden = 100000", "--hidden must be at most 8192"),
        ("[settings." + "a" * 300 + "]", "at most 50 characters"),
        ('[arguments]\nstart = "a/{{sed}}"', "default: start: unknown 'sed'.*seed"),
    ],
)
def test_a_wrong_sweep_is_refused_with_the_place(tmp_path: Path, line: str, words: str) -> None:
    """The error comes before any training."""
    with pytest.raises(ValueError, match=words):
        experiment.prepare(sweep(tmp_path, line))


def test_a_changed_sweep_does_not_resume_other_runs(tmp_path: Path) -> None:
    """A run folder with other arguments is reported, not overwritten."""
    (job, *_) = experiment.read_sweep(sweep(tmp_path).sweep)
    training = run_folder.start(job.args, SelfPlayTrainer)
    checkpoints.save(training)
    changed = SWEEP.replace("batch_size = 64", "batch_size = 32")
    with pytest.raises(ValueError, match="--batch-size 32 is not the run's 64"):
        experiment.prepare(sweep(tmp_path, changed))


def test_a_changed_sweep_does_not_use_finished_runs_of_another(tmp_path: Path) -> None:
    """The error comes before any training, and the results stay."""
    args = sweep(tmp_path, SWEEP.replace("seeds = [0, 1]", "seeds = [0]"))
    experiment.prepare(args)()
    before = (tmp_path / "runs/experiment.json").read_text()
    changed = SWEEP.replace("seeds = [0, 1]", "seeds = [1, 0]").replace(
        "steps = 256", "steps = 512"
    )
    with pytest.raises(ValueError, match=r"selfplay-seed0 .*--steps 512 is not the run's 256"):
        experiment.prepare(sweep(tmp_path, changed))
    assert (tmp_path / "runs/experiment.json").read_text() == before
    assert not (tmp_path / "runs/symmetric/selfplay-seed1").exists()


def test_a_run_killed_before_its_first_checkpoint_starts_again(tmp_path: Path) -> None:
    """It uses the same folder, so its seed is in the table."""
    args = sweep(tmp_path, SWEEP.replace("[settings.plain]\nsymmetric = false", ""))
    (job, *_) = experiment.read_sweep(args.sweep)
    job.folder.mkdir(parents=True)
    for name in ("config.json", "events.out.tfevents.1", ".config.json.half"):
        (job.folder / name).touch()
    (row,) = [row for row in experiment.prepare(args)() if row["opponent"] == "greedy"]
    assert len(row["win_rates"]) == 2
    assert sorted(os.listdir(tmp_path / "runs/symmetric")) == ["selfplay-seed0", "selfplay-seed1"]


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    """Only files that runs write are removed."""
    (job, *_) = experiment.read_sweep(sweep(tmp_path).sweep)
    job.folder.mkdir(parents=True)
    (job.folder / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="no checkpoint, but notes"):
        experiment.prepare(sweep(tmp_path))
    assert (job.folder / "notes.txt").read_text() == "mine"


def test_initial_networks_are_checked_before_any_training(tmp_path: Path) -> None:
    """This includes the last run's network, and folders that cannot be created."""
    network = tmp_path / "model.zip"
    save_network(network, TakiNetwork(16), {})
    changed = SWEEP.replace("[settings.symmetric]", f'[settings.symmetric]\nstart = "{network}"')
    for start, error in (("no", FileNotFoundError), (str(network), CheckpointError)):
        text = changed.replace("[settings.plain]", f'[settings.plain]\nstart = "{start}"')
        with pytest.raises(error):
            experiment.prepare(sweep(tmp_path, text))
        assert not list((tmp_path / "runs").glob("*/*"))
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"runs: folder .*file does not exist"):
        experiment.prepare(sweep(tmp_path, SWEEP.replace("/runs", "/file")))
