"""Environments of Gymnasium."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("numpy")

import numpy as np
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import tailwater as tw
import tailwater.gym as gym

SMALL: dict[str, Any] = {"workload.senders": 4, "workload.jitter": "100us"}


def _episodes(envs: gym.VectorEnv, steps: int, window: float = 4.0) -> dict[str, list[Any]]:
    """What the episodes came to that were over within so many steps."""
    actions = np.full(envs.action_space.shape, window, np.float32)
    found: dict[str, list[Any]] = {}
    for _ in range(steps):
        *_, infos = envs.step(actions)
        if "run" in infos:
            for name, values in infos["run"].items():
                found.setdefault(name, []).extend(values[infos["_run"]].tolist())
    return found


@pytest.mark.parametrize("act", ["window", "rate", "factor"])
@pytest.mark.parametrize("agents", ["flow", "host", "port"])
# It advises: actions between -1 and 1, observations with bounds, and a registered name.
@pytest.mark.filterwarnings("ignore:.*(normalized space|probably too high|having a spec)")
@pytest.mark.filterwarnings("error")
def test_the_checker_of_gymnasium_is_content(agents: str, act: str) -> None:
    check_env(tw.gym.Env("incast", set=SMALL, agents=agents, act=act))


def test_many_environments_are_as_many_single_ones() -> None:
    envs = tw.gym.VectorEnv("incast", 3, set=SMALL, interval="100us", observe=["rtt", "in_flight"])
    ones = [tw.gym.Env("incast", set=SMALL, interval="100us", observe=["rtt", "in_flight"]) for _ in range(3)]
    seen, infos = envs.reset(seed=7)
    assert infos["seed"].tolist() == [7, 8, 9]
    for place, one in enumerate(ones):
        first, info = one.reset(seed=7 + place)
        assert np.array_equal(first, seen[place]) and info["seed"] == 7 + place
    rng = np.random.default_rng(1)
    for _ in range(12):
        actions = rng.uniform(1, 20, (3, 4)).astype(np.float32)
        seen, rewards, terminated, truncated, _ = envs.step(actions)
        assert envs.observation_space.contains(seen)
        for place, one in enumerate(ones):
            own, reward, over, cut, info = one.step(actions[place])
            assert np.array_equal(own, seen[place])
            assert (reward, over, cut) == (rewards[place], terminated[place], truncated[place])
            # The first decision is before the first start, of 10 ms.
            assert info["time_us"] >= 10_000


def test_the_seed_of_an_episode_repeats_it() -> None:
    envs = tw.gym.VectorEnv("incast", 2, set=SMALL)
    envs.reset(seed=1)
    found = _episodes(envs, 60)
    assert len(found["seed"]) >= 6 and len(set(found["seed"])) == len(found["seed"])
    assert found["seed"][:2] == [1, 2]
    for place in (0, 3, 5):
        envs.reset(seed=[found["seed"][place], 0])
        again = _episodes(envs, 60)
        where = again["seed"].index(found["seed"][place])
        assert again["fct_max_us"][where] == found["fct_max_us"][place]


def test_without_a_seed_episodes_differ_and_go_on() -> None:
    first = tw.gym.VectorEnv("incast", 2, set=SMALL)
    second = tw.gym.VectorEnv("incast", 2, set=SMALL)
    seeds = [envs.reset()[1]["seed"].tolist() for envs in (first, second, first)]
    assert len({seed for pair in seeds for seed in pair}) == 6
    one, other = tw.gym.Env("incast", set=SMALL), tw.gym.Env("incast", set=SMALL)
    assert one.reset()[1]["seed"] != other.reset()[1]["seed"]
    repeated = [one.reset(seed=5)[1]["seed"], one.reset()[1]["seed"]]
    assert [other.reset(seed=5)[1]["seed"], other.reset()[1]["seed"]] == repeated
    assert repeated[0] == 5 != repeated[1]


def test_a_window_is_that_of_a_run() -> None:
    # With a first window beyond every buffer nothing keeps a sender from sending all at once.
    env = tw.gym.Env("incast", set={"workload.senders": 1, "workload.size": "32KB"})
    env.reset(seed=1)
    while True:
        *_, over, _, info = env.step(env.action_space.high)
        if over:
            break
    run = tw.run(
        "incast",
        schemes="newreno",
        set={"workload.senders": 1, "workload.size": "32KB", "tcp.initial_window": 50},
        seeds=1,
    )
    assert info["run"]["fct_max_us"] == run.rows.to_arrow()["fct_max_us"][0].as_py()


def test_what_is_drawn_changes_with_the_episode() -> None:
    drawn = {**SMALL, "link.rate": tw.uniform("1Gbps", "10Gbps"), "tcp.min_rto": tw.choice("1ms", "10ms")}
    envs = tw.gym.VectorEnv("incast", 8, set=drawn)
    envs.reset(seed=1)
    found = _episodes(envs, 40, 30.0)
    plain = tw.gym.VectorEnv("incast", 8, set=SMALL)
    plain.reset(seed=1)
    same = _episodes(plain, 40, 30.0)
    assert max(found["fct_max_us"]) > 1.5 * min(found["fct_max_us"])
    assert max(same["fct_max_us"]) < 1.2 * min(same["fct_max_us"])
    envs.reset(seed=1)
    assert _episodes(envs, 40, 30.0) == found


def test_marks_come_from_the_scheme() -> None:
    marks = {}
    for scheme in ("newreno", "dctcp"):
        many = {"workload.senders": 16, "workload.size": "100KB"}
        env = tw.gym.Env("incast", scheme=scheme, set=many, agents="port", observe=["marks"])
        env.reset(seed=1)
        marks[scheme] = max(float(env.step(np.array([6.0]))[0][0, 0]) for _ in range(20))
    assert marks == {"newreno": 0.0, "dctcp": 1.0}


def test_episodes_end_as_they_are_told_to() -> None:
    actions = np.full((2, 4), 4.0, np.float32)
    ends = {}
    for mode in AutoresetMode:
        envs = tw.gym.VectorEnv("incast", 2, set=SMALL, max_steps=3, autoreset=mode)
        first, _ = envs.reset(seed=1)
        ends[mode] = []
        for _ in range(7):
            seen, rewards, terminated, truncated, infos = envs.step(actions)
            assert not (terminated & truncated).any()
            ends[mode].append(bool(truncated.all()))
            if truncated.all():
                assert infos["_run"].all() and infos["run"]["steps"].tolist() == [3, 3]
                assert (rewards < 0).all()
            if truncated.all() and mode is AutoresetMode.SAME_STEP:
                # Flows of the next episode have not started.
                assert np.array_equal(seen, first)
                assert infos["final_obs"][0].shape == seen[0].shape and infos["_final_obs"].all()
        if mode is AutoresetMode.DISABLED:
            assert (rewards == 0).all()
            envs.reset(options={"reset_mask": np.array([True, False])})
            _, _, terminated, truncated, _ = envs.step(actions)
            assert (terminated | truncated).tolist() == [False, True]
    assert ends[AutoresetMode.NEXT_STEP] == [False, False, True, False, False, False, True]
    assert ends[AutoresetMode.SAME_STEP] == [False, False, True, False, False, True, False]
    assert ends[AutoresetMode.DISABLED] == [False, False, True, False, False, False, False]


def test_rewards_are_terms_and_functions_of_them() -> None:
    def reward(terms: gym.Terms) -> Any:
        assert set(terms) >= {"goodput", "flow_time", "delay", "queue", "drops"}
        return 2 * terms["goodput"] - terms["queue"]

    made = [
        tw.gym.VectorEnv("incast", 2, set=SMALL, reward=one)
        for one in ("goodput", {"goodput": 2, "queue": -1}, reward)
    ]
    actions = np.full((2, 4), 8.0, np.float32)
    sums = np.zeros((3, 2))
    for place, envs in enumerate(made):
        envs.reset(seed=1)
        for _ in range(20):
            sums[place] += envs.step(actions)[1]
    assert (sums[0] > 1).all()
    assert np.allclose(sums[1], sums[2]) and not np.allclose(sums[0], sums[1])


def test_without_a_copy_all_steps_return_the_same_array() -> None:
    for copy in (True, False):
        envs = tw.gym.VectorEnv("incast", 2, set=SMALL, copy=copy)
        first, _ = envs.reset(seed=1)
        second = envs.step(np.ones((2, 4), np.float32))[0]
        assert np.shares_memory(first, second) is not copy


def test_a_forked_process_goes_on() -> None:
    if not hasattr(os, "fork"):
        pytest.skip("no processes are forked here")
    script = """
import os, numpy as np, tailwater as tw
envs = tw.gym.VectorEnv("incast", 4, set={"workload.senders": 4}, jobs=2)
envs.reset(seed=1)
actions = np.full(envs.action_space.shape, 4.0, np.float32)
envs.step(actions)
child = os.fork()
if child == 0:
    envs.step(actions)
    os._exit(7)
envs.step(actions)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, timeout=60, check=False)
    assert done.stdout.split() == [b"7"], done.stderr


def test_nothing_else_needs_gymnasium() -> None:
    script = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("gymnasium", "numpy"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
import tailwater as tw
tw.uniform("1Gbps", "2Gbps")
try:
    tw.gym.Env
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "tailwater.gym needs Gymnasium and NumPy" in done.stdout, done.stderr
    assert "pip install '.[gym]'" in done.stdout


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"agents": "flows"}, "agents", '"flow", "host" or "port"'),
    ({"act": "cwnd"}, "act", '"window", "rate" or "factor"'),
    ({"interval": "100"}, "interval", '"rtt", or a time with its unit'),
    ({"interval": 100}, "interval", "give a text"),
    ({"observe": ["rtt", "speed"]}, "observe", '"in_flight"'),
    ({"observe": ["rtt", "rtt"]}, "observe", "name each feature once"),
    ({"observe": []}, "observe names nothing", '"window"'),
    ({"reward": "speed"}, "reward", '"flow_time"'),
    ({"reward": {"goodput": "1"}}, 'reward["goodput"]', "give a number"),
    ({"reward": 3}, "reward", "the name of a term"),
    ({"num_envs": 0}, "num_envs", "a whole number from 1"),
    ({"max_steps": 0}, "max_steps", "of at least 1"),
    ({"max_window": 0.5}, "max_window", "from 1 to 1,000,000"),
    ({"autoreset": "next"}, "autoreset", "gymnasium.vector.AutoresetMode"),
    ({"scheme": "newreno,rcc"}, "this scenario has 2: of newreno, rcc", "name one scheme"),
    ({"set": {}}, "this scenario has 3: of values of workload.senders", "one value of each setting"),
    ({"scheme": "dctpc"}, "dctpc", "dctcp"),
    ({"set": {"link.rat": tw.uniform("1Gbps", "2Gbps")}}, "link.rat", "link.rate"),
    ({"set": {"link.rate": tw.uniform("1Gbps", "2Mbps")}}, 'set["link.rate"]', "the same unit"),
    ({"set": {"link.rate": tw.uniform("2Gbps", "1Gbps")}}, 'set["link.rate"]', "lower end first"),
    ({"set": {"link.delay": tw.log_uniform("0us", "9us")}}, 'set["link.delay"]', "above 0"),
    ({"set": {"link.rate": tw.uniform(1, 10)}}, 'set["link.rate"]', "Gbps"),
    ({"set": {"link.rate": tw.uniform("fast", "slow")}}, 'set["link.rate"]', "with its unit"),
    ({"scenario": "incats"}, "incats", "incast"),
]


@pytest.mark.parametrize(("wrong", "place", "remedy"), WRONG, ids=lambda value: str(value)[:40])
def test_what_is_wrong_is_named_with_its_remedy(wrong: dict[str, Any], place: str, remedy: str) -> None:
    given: dict[str, Any] = {"scenario": "incast", "num_envs": 2, "set": SMALL, **wrong}
    with pytest.raises(tw.ScenarioError) as raised:
        tw.gym.VectorEnv(given.pop("scenario"), given.pop("num_envs"), **given)
    assert place in str(raised.value)
    assert remedy in str(raised.value)
    assert raised.value.problems


def test_wrong_calls_leave_the_environment_as_it_was() -> None:
    import gymnasium

    envs = tw.gym.VectorEnv("incast", 2, set=SMALL)
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step(np.ones((2, 4), np.float32))
    with pytest.raises(tw.ScenarioError, match="reset all"):
        envs.reset(options={"reset_mask": [True, False]})
    seen, _ = envs.reset(seed=1)
    with pytest.raises(tw.ScenarioError, match="shape"):
        envs.step(np.ones((2, 3), np.float32))
    with pytest.raises(tw.ScenarioError, match="not a number"):
        envs.step(np.full((2, 4), np.nan, np.float32))
    with pytest.raises(tw.ScenarioError, match="2 seeds, or one"):
        envs.reset(seed=[1, 2, 3])
    with pytest.raises(tw.ScenarioError, match="whole number"):
        envs.reset(seed=-1)
    assert np.array_equal(envs._observations, seen)
    changing = {"workload.rounds": tw.uniform(1, 3)}
    with pytest.raises(tw.ScenarioError, match='agents="host"'):
        tw.gym.VectorEnv("incast", 8, set={**SMALL, **changing}).reset(seed=1)
    tw.gym.VectorEnv("incast", 8, set={**SMALL, **changing}, agents="host").reset(seed=1)


@pytest.mark.trust
def test_a_step_and_a_reset_are_as_fast_as_promised() -> None:
    # 100,000 steps a second on two cores, and a reset within a millisecond: in processor time, which other
    # programs of the machine do not change, and on one thread.
    envs = tw.gym.VectorEnv("incast", 64, set={"workload.senders": 8}, interval="100us", jobs=1)
    actions = np.full(envs.action_space.shape, 4.0, np.float32)
    resets, steps = [], []
    for _ in range(5):
        start = time.process_time()
        envs.reset(seed=1)
        resets.append((time.process_time() - start) / 64)
        start = time.process_time()
        for _ in range(100):
            envs.step(actions)
        steps.append((time.process_time() - start) / 6400)
    # Those bounds are of an idle machine: neighbours make a processor slower, too.
    slow = 1 if os.environ.get("TAILWATER_TRUST") else 5
    assert min(resets) < slow * 1e-3, f"{min(resets) * 1e3} ms"
    assert min(steps) < slow * 20e-6, f"{min(steps) * 1e6} us"
