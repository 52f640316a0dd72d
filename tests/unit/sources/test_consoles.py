"""Consoles of other frameworks, as their print statements write them."""

# ruff: noqa: E501, W291

from __future__ import annotations

from pathlib import Path

import pytest

from grpo_tui.run import Run
from grpo_tui.sources.consoles.undecided import Console
from grpo_tui.sources.records import Origin, Record
from grpo_tui.sources.search.detect import reader_for

from .reading import only, read

OPENRLHF = """INFO 11-29 14:03:05 ppo_trainer.py:547] ✨ Global step 1: {'policy_loss': -0.0021, 'reward': 0.43, 'kl': nan, 'ppo_clip_ratio': 0.004}
(PPOTrainer pid=12) INFO 11-29 14:04:05 ppo_trainer_async.py:244] Global step 2: {'policy_loss': 0.0, 'reward': 0.5, 'kl': 0.1, 'ppo_clip_ratio': 0.0}
✨ Evaluation completed in 0:01:02, global_step 2, eval_metrics: {'eval_gsm8k_pass1': 0.5}
"""
POSTFIX = """\
Train epoch [1/1]: 50%|█████| 1/2 [00:02<00:02, pg=-0.0889, rm=0.411, ret=0.0884, glen=104, kl=0, act_lr=1.74e-6]
Train epoch [1/1]: 100%|██████| 2/2 [00:03<00:00, 1.2s/it, pg=0.161, rm=0.396, ret=-0.0884, glen=126, kl=0.0244, act_lr=1.1e-6]
Train epoch [1/1]: 100%|██████| 2/2 [00:03<00:00, pg=0.25, rm=0.5, ret=0.1, glen=127, kl=0.02, act_lr=1.2e-6]
"""
SKYRL = """\x1b[36m(skyrl_entrypoint pid=7)\x1b[0m 2026-08-21 10:00:00.1 | INFO     | skyrl.utils.tracking:log:189 - Step 1: 
\x1b[36m(skyrl_entrypoint pid=7)\x1b[0m {'generate/avg_num_tokens': '812.3000',
\x1b[36m(skyrl_entrypoint pid=7)\x1b[0m  'policy/policy_entropy': '0.3100',
\x1b[36m(skyrl_entrypoint pid=7)\x1b[0m  'reward/avg_raw_reward': '0.4000',
\x1b[36m(skyrl_entrypoint pid=7)\x1b[0m  'trainer/global_step': 1}
2026-08-21 10:01:00.1 | INFO     | skyrl.utils.tracking:log:189 - Step 2: 
{'generate/avg_num_tokens': '800.0000', 'reward/avg_raw_reward': '0.5000'}
"""
AREAL = """(AReaL) 20260521-18:37:16.123 StatsLogger INFO: Epoch 1/10 Step 3/100 Train step 3/1000 done.
(AReaL) 20260521-18:37:16.124 StatsLogger INFO: Stats (1/1):
(AReaL) 20260521-18:37:16.125 StatsLogger INFO: 
╒═══════════════════════════╤════════════╤═════════════════════════════════╤═════════════╕
│ ppo_actor/task_reward/avg │ 1.5000e+00 │ ppo_actor/update/actor_loss/avg │ -2.0000e-03 │
├───────────────────────────┼────────────┼─────────────────────────────────┼─────────────┤
│ timeperf/rollout          │ 1.2000e+01 │                                 │             │
╘═══════════════════════════╧════════════╧═════════════════════════════════╧═════════════╛
"""
NEMO = """
========================= Step 12/500 =========================
▶ Generating responses
📊 Training Results:
  • Loss: -0.0012
  • Generation KL Error: 0.0008
  • Avg Reward: 0.4312
  • Mean Generation Length: 812.4000

⏱️  Timing:
  • Total step time: 41.20s
  • policy_training: 20.10s (48.8%)
========================= Step 13/500 =========================
  • Loss: 0.5000
"""
PRIME = """14:02:11 SUCCESS Step 12 |  41.20s | Loss 0.0012 | Entropy 0.3121 | Mismatch KL 0.0008 | Grad. Norm 0.1200 | LR 1.00e-06 | Throughput 31200 tokens/s | MFU 31.0% | Peak Mem. 61.0 GiB
14:03:11 SUCCESS Step 13 |  40.1s | Reward 0.4310 | Trainable 412/512 (80.5%) | Turns 1.0 | Max Off-Policy 2 | Error 0.2% | Truncation 4.1%
"""
ROLL = """[2026-08-19 10:00:00] [rlvr_pipeline.py (838)] [INFO] {"critic/score/mean": 0.4, "actor/pg_loss@mean": 0.01, "time/step_total": 41.0, "note": "x"}
[2026-08-19 10:00:00] [rlvr_pipeline.py (840)] [INFO] pipeline step 12 finished
metrics_tag: {"step": 13, "metrics": {"critic/score/mean": 0.5, "actor/pg_loss@sum": 0.02}}
"""
MLX = """
================================================================================
Iter 10:
--------------------------------------------------------------------------------
Loss: 0.012
Total Rewards:  μ=0.431, σ=0.210
Group Rewards:  μ=0.430, σ=0.200
KL Divergence: 0.001000000000
KL saturation: 12.50%
--------------------------------------------------------------------------------
Generation Stats:
  • Avg tokens: 120.5
  • Min tokens: 3
  • Max tokens: 256 (limit: 256)
  • Hit limit: 4.0%
--------------------------------------------------------------------------------
Individual Reward Functions:
  • accuracy: μ=0.500, σ=0.300, cov=100.00%
--------------------------------------------------------------------------------
Clipping:  low=0.001, high=0.002, total=0.003
Learning Rate: 1.0000e-06
Speed: 0.100 it/s, 512.0 tok/s
Memory: 12.500GB
================================================================================
Iter 11: Val loss 0.500, Val took 3.000s
"""
FORGE = """=== [GlobalReduce] - METRICS STEP 4 ===
  reward/evaluate_response/avg_total_reward: 0.5
  rl_trainer/avg_loss: -0.01
==============================
"""
OLD_FORGE = """
=== RANK 0 METRICS STEP 4 ===
  rl_trainer/avg_loss: -0.01
==============================
"""
OLD_PRIME = """14:02:11 SUCCESS Step 3 | Time: 41.20s | Loss: 0.0012 | Entropy: 0.3121 | Grad. Norm: 0.1200 | LR: 1.00e-06 | Throughput: 31200 tokens/s | MFU: 31.0% | Peak Mem.: 61.0 GiB
14:03:11 SUCCESS Step 4 | Time: 40.10s | Reward: 0.4310 | Throughput: 512.0 tokens/s | Seq. Length: 812.5 tokens/sample | Async Level: 1 | Max. Off-Policy Level: 2
"""
NEW_PRIME = "14:02:11 SUCCESS Step 3 |  1m 20s | Loss 0.0012 | Entropy 0.3121 | LR 1.00e-06\nStep 4 |   850ms | Loss 0.1\n"
NEMO_FILTERED = """
========================= Step 3/500 =========================

📊 Training Results:
  • Loss: 0.0100
  • Draft Loss: 0.5000
  • Generation KL Error: 0.0008
  • Avg Filtered Reward: 0.5000
  • Avg Total Reward: 0.4000
  • Mean Generation Length: 201.2197

⏱️  Timing:
  • Total step time: 35.70s
  • prepare_for_generation/total: 2.20s (6.2%)

🔍 Performance Metrics:
  • Mean Total Tokens per Sample: 204.01
  • Throughputs (per GPU):
    - E2E (Samples/sec/gpu): 3.59
    - E2E (Tokens/sec/gpu): 1073.59
"""
PANEL = """\
╭────────────────────────────────── Metrics ───────────────────────────────────╮
│  debug      vllm_vs_local_logprob_diff_mean: 0.01 |                          │
│             vllm_vs_local_logprob_diff_max: 1.50 | vllm_local_reverse_kl:    │
│             0.00                                                             │
│  objective  kl_avg: 0.01 | kl0_avg: 0.00e+00 | kl2_avg: 3.00e-06             │
│  optim      grad_norm: nan                                                   │
│  other      episode: 512 | global_step: 512 | training_step: 8 | epoch:      │
│             0.01 | lr: 1.00e-06 | scores: 4.31                               │
│  val        sequence_lengths: 812.20 | stop_rate: 0.93                       │
╰──────────────────────────────────────────────────────────────────────────────╯
╭───────── Metrics ──────────╮
│  loss   policy_avg: -0.01  │
│  other  training_step: 9   │
╰────────────────────────────╯
"""
EASY = """\
\x1b[36m(Runner pid=7)\x1b[0m Step 3
\x1b[36m(Runner pid=7)\x1b[0m actor:
\x1b[36m(Runner pid=7)\x1b[0m   entropy_loss: !!float 'nan'
\x1b[36m(Runner pid=7)\x1b[0m   grad_norm: 0.123
\x1b[36m(Runner pid=7)\x1b[0m   lr: 1.0e-06
\x1b[36m(Runner pid=7)\x1b[0m   pg_loss: -0.0
\x1b[36m(Runner pid=7)\x1b[0m critic:
\x1b[36m(Runner pid=7)\x1b[0m   score:
\x1b[36m(Runner pid=7)\x1b[0m     max: 1
\x1b[36m(Runner pid=7)\x1b[0m     mean: 0.43
\x1b[36m(Runner pid=7)\x1b[0m
Step 4
actor:
  pg_loss: 0.002
perf:
  throughput: 512.0

"""
TINKER = """[2026-08-19 10:00:00] INFO tinker_cookbook.utils.ml_log:
                     Step 12
┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━┓
┃ Metric                          ┃ Value     ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━┩
│ env/all/reward/total            │ 0.400000  │
│ optim/lr                        │ 0.000001  │
│ progress/batch                  │ 12        │
│ test/a/name/that/is/cut/off/at… │ 0.123456  │
│ test/text                       │ hello     │
└─────────────────────────────────┴───────────┘
                     Step 13
┏━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━┓
┃ Metric               ┃ Value    ┃
┡━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━┩
│ env/all/reward/total │ 0.500000 │
└──────────────────────┴──────────┘
"""
TUNE = "Step 1 | loss:0.01 rewards:tensor(0.4) clipfrac:0.0 \nStep 2 | loss:0.02 rewards:0.5 clipfrac:0.1 \n"

CASES = [
    ("openrlhf", OPENRLHF, [1, 2, 2], {"policy_loss": 0.0, "reward": 0.5, "kl": 0.1, "ppo_clip_ratio": 0.0}, 1),
    ("openrlhf", POSTFIX, [1, 2], {"policy_loss": 0.161, "reward": 0.396, "actor_lr": 1.1e-6}, 0),
    ("skyrl", SKYRL, [1, 2], {"generate/avg_num_tokens": 812.3, "policy/policy_entropy": 0.31}, 0),
    ("areal", AREAL, [2], {"ppo_actor/task_reward/avg": 1.5, "timeperf/rollout": 12.0}, 0),
    ("nemo-rl", NEMO, [12, 13], {"loss": -0.0012, "reward": 0.4312, "timing/train/total_step_time": 41.2}, 0),
    ("prime-rl", PRIME, [12, 13], {"loss/mean": 0.0012, "optim/lr": 1e-6, "perf/mfu": 31.0, "time/step": 41.2}, 0),
    ("prime-rl", PRIME, [12, 13], {"trainable_frac": 0.805, "truncation_rate": 0.041, "off_policy/max": 2}, 1),
    ("roll", ROLL, [12, 13], {"critic/score/mean": 0.4, "actor/pg_loss": 0.01, "time/step_total": 41.0}, 0),
    ("mlx-lm-lora", MLX, [10, 11], {"train_total_rewards_std": 0.21, "train_hit_max_tokens_ratio": 0.04}, 0),
    ("mlx-lm-lora", MLX, [10, 11], {"rewards/accuracy/mean": 0.5, "train_clip_ratio_high": 0.002}, 0),
    ("torchforge", FORGE, [4], {"reward/evaluate_response/avg_total_reward": 0.5}, 0),
    ("torchforge", OLD_FORGE, [4], {"rl_trainer/avg_loss": -0.01}, 0),
    ("prime-rl", OLD_PRIME, [3, 4], {"time/step": 41.2, "optim/lr": 1e-6, "perf/peak_memory": 61.0}, 0),
    ("prime-rl", OLD_PRIME, [3, 4], {"reward/mean": 0.431, "seq_len/mean": 812.5, "off_policy/max": 2}, 1),
    ("prime-rl", NEW_PRIME, [3, 4], {"time/step": 80.0, "entropy/all/mean": 0.3121}, 0),
    ("nemo-rl", NEMO_FILTERED, [3], {"reward": 0.4, "filtered_reward": 0.5, "performance/tokens_per_sec_per_gpu": 1073.59}, 0),
    ("open-instruct", PANEL, [8, 9], {"debug/vllm_local_reverse_kl": 0.0, "objective/kl2_avg": 3e-6, "lr": 1e-6}, 0),
    ("open-instruct", PANEL, [8, 9], {"loss/policy_avg": -0.01}, 1),
    ("easyr1", EASY, [3, 4], {"actor/grad_norm": 0.123, "actor/lr": 1e-6, "critic/score/mean": 0.43}, 0),
    ("easyr1", EASY, [3, 4], {"actor/pg_loss": 0.002, "perf/throughput": 512.0}, 1),
    ("tinker", TINKER, [12, 13], {"env/all/reward/total": 0.4, "optim/lr": 1e-6, "progress/batch": 12.0}, 0),
    ("torchtune", TUNE, [1, 2], {"rewards": 0.4, "clipfrac": 0.0}, 0),
]  # fmt: skip


@pytest.mark.parametrize(("framework", "text", "steps", "some", "index"), CASES)
def test_rows_of_a_dialect(
    tmp_path: Path, framework: str, text: str, steps: list[int], some: dict[str, float], index: int
) -> None:
    path = tmp_path / "any-name.out"
    path.write_text("starting up\n" + text)
    reader = reader_for(path)
    assert reader is not None and reader.name.startswith(framework)
    for read_by in (reader, Console()):
        items = read(read_by, "starting up\n" + text)
        rows = only(Record, items)
        assert [row.step for row in rows] == steps
        assert {name: rows[index].values[name] for name in some} == pytest.approx(some)
        assert any(origin.framework == framework for origin in only(Origin, items))
    run = Run.open(path)
    run.poll(final=True)
    assert run.framework == framework and run.steps() == sorted(set(steps))


@pytest.mark.parametrize(("framework", "text", "steps", "some", "index"), CASES)
def test_pieces_of_any_size_give_the_same(
    framework: str, text: str, steps: list[int], some: dict[str, float], index: int
) -> None:
    whole = only(Record, read(Console(), text))
    data = text.encode()
    for size in (7, 50, 333):
        assert repr(only(Record, read(Console(), data, cuts=range(size, len(data), size)))) == repr(whole)


def test_what_answers_say_is_no_row() -> None:
    text = (
        "╭──── Metrics ────╮\n│  speed  4 knots │\n╰─────────────────╯\n"
        "Step 4\nanswer: 12\nStep 5\nFirst:\nadd: 3\nStep 6 | 12s | walk on\n"
        "Step 19 - we open the door\nStep 3: add the numbers\nLoss: 3\n  • Avg: 3\nStep 4 | think\n{'a': 1}\n"
    )
    assert not only(Record, read(Console(), text))


def test_a_table_of_the_same_names_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1, "critic/score/mean": 0.5, "actor/pg_loss": 0.1}\n' * 3)
    reader = reader_for(path)
    assert reader is not None and reader.name == "jsonl"


def test_easyr1_rows_are_nested(tmp_path: Path) -> None:
    path = tmp_path / "experiment_log.jsonl"
    row = '{"step": %d, "actor": {"pg_loss": 0.1, "ppo_kl": 0.0}, "critic": {"score": {"mean": 0.5}}}\n'
    path.write_text(row % 1 + row % 2)
    run = Run.open(path)
    run.poll(final=True)
    assert run.framework == "verl" and run.points("score_mean").values.tolist() == [0.5, 0.5]
    assert run.raw_name("policy_loss") == "actor/pg_loss" and run.steps() == [1, 2]
    path.write_text((row % 1).replace("ppo_kl", "pg_clipfrac_higher") * 2)
    run = Run.open(path)
    run.poll(final=True)
    assert run.framework == "easyr1"


def test_two_writers_in_one_file_are_one_run(tmp_path: Path) -> None:
    """prime-rl's trainer lags a step behind its orchestrator; a resume goes back in both."""
    path = tmp_path / "metrics.jsonl"
    lines = []
    for step in range(1, 6):
        lines.append(f'{{"step": {step + 1}, "time": 1.0, "train/agg/all/a/reward/mean": 0.5}}')
        lines.append(f'{{"step": {step}, "time": 1.0, "optim/lr": 1e-6, "optim/grad_norm": 0.{step}}}')
    path.write_text("\n".join(lines) + "\n")
    run = Run.open(path)
    run.poll(final=True)
    assert run.framework == "prime-rl" and len(run.segments) == 1 and run.steps() == [1, 2, 3, 4, 5, 6]
    assert run.points("grad_norm").values.tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
    with path.open("a") as handle:
        handle.write("\n".join(lines[-2:]) + "\n")
    run.poll()
    assert len(run.segments) == 2


def test_the_logs_of_two_processes_are_one_run(tmp_path: Path) -> None:
    """prime-rl's run folder: a table of both, and logs of each attempt's trainer and orchestrator."""
    table = [
        '{"step": %d, "time": 1.0, "optim/lr": 1e-6, "optim/grad_norm": 0.3}',
        '{"step": %d, "time": 1.0, "mismatch_kl/all/mean": 0.01, "entropy/all/mean": 0.3}',
        '{"step": %d, "time": 2.0, "train/agg/all/solver/reward/mean": 0.5}',
    ]
    (tmp_path / "metrics.jsonl").write_text("".join(row % step + "\n" for step in (1, 2, 3) for row in table))
    for attempt in (1, 2):
        folder = tmp_path / "logs" / f"attempt_{attempt}"
        folder.mkdir(parents=True)
        trainer, orchestrator = PRIME.splitlines()
        (folder / "trainer.log").write_text(trainer.replace("Step 12", f"Step {attempt + 1}") + "\n")
        (folder / "orchestrator.log").write_text(
            orchestrator.replace("Step 13", f"Step {attempt + 1}") + "\n"
        )
    (tmp_path / "logs" / "latest").symlink_to("attempt_2")
    run = Run.open(tmp_path)
    run.poll(final=True)
    assert (run.framework, run.steps(), len(run.segments)) == ("prime-rl", [1, 2, 3], 1)
    names = [track.source.path.relative_to(tmp_path).as_posix() for track in run.tracks]
    assert names == ["metrics.jsonl", "logs/attempt_2/orchestrator.log", "logs/attempt_2/trainer.log"]


def test_areal_merges_the_logs_of_its_roles(tmp_path: Path) -> None:
    """`build_streaming_log_cmd` of release 1.0.4 puts the role before each line of `merged.log`."""
    (tmp_path / "trainer.log").write_text(AREAL)
    merged = "".join(f"[trainer] {line}\n[rollout] INFO idle\n" for line in AREAL.splitlines())
    (tmp_path / "merged.log").write_text(merged)
    run = Run.open(tmp_path)
    run.poll(final=True)
    assert [track.source.path.name for track in run.tracks] == ["merged.log"] and run.framework == "areal"
    assert run.steps() == [2] and len(run.names()) == 3


SWIFT = "'elapsed_time': '1m 2s', 'memory(GiB)': 61.2, 'train_speed(s/it)': 5.1"


@pytest.mark.parametrize("counter", ["global_step/max_steps", "iteration"])
def test_ms_swift_counts_in_text(tmp_path: Path, counter: str) -> None:
    """`patcher.py` and, on Megatron, `callbacks/print.py` of release 4.6.0: the same row in both places."""
    row = "{'loss': 0.1, 'reward': 0.%d, 'reward_std': 0.2, 'frac_reward_zero_std': 0.4, '%s': '%d/500', %s}"
    for name, quote in (("train.log", "'"), ("logging.jsonl", '"')):
        text = "\n".join((row % (step, counter, step, SWIFT)).replace("'", quote) for step in (1, 2, 3))
        (tmp_path / name).write_text(text + "\n")
        run = Run.open(tmp_path / name)
        run.poll(final=True)
        assert (run.framework, run.steps(), run.total_steps) == ("ms-swift", [1, 2, 3], 500), name
        assert run.points("reward_mean").values.tolist() == [0.1, 0.2, 0.3]
