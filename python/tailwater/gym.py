"""Simulations as environments of Gymnasium, for agents that learn to control congestion.

>>> import tailwater as tw
>>> envs = tw.gym.VectorEnv("incast", num_envs=64, set={"workload.senders": 8}, interval="100us")
>>> observations, infos = envs.reset(seed=1)
>>> observations, rewards, terminations, truncations, infos = envs.step(envs.action_space.sample())

An agent stands in the place of the congestion control of a sender; all else of a simulation stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

try:
    import gymnasium
    import numpy as np
    from gymnasium.vector import AutoresetMode
    from numpy.typing import NDArray
except ImportError as _error:
    raise ImportError(
        f"tailwater.gym needs Gymnasium and NumPy ({_error}): pip install 'gymnasium>=1' numpy, or from a clone "
        "pip install '.[gym]'",
        name=_error.name,
    ) from _error

from tailwater import _draw, _tailwater, _values
from tailwater._run import Source, _source

__all__ = ["FEATURES", "TERMS", "Env", "Reward", "Terms", "VectorEnv"]

if TYPE_CHECKING:
    # What agents see, or decide: environments (of several), agents, features.
    _Numbers = NDArray[np.float32]

Terms = Mapping[str, NDArray[np.float64]]
"""What a step came to, by name: a number for each environment."""
Reward = str | Mapping[str, float] | Callable[[Terms], "NDArray[np.float64]"]
"""The name of a term, weights of terms, or a function of all of them that gives a number for each environment."""

FEATURES: Mapping[str, str]
"""What agents may see, by name."""
TERMS: Mapping[str, str]
"""What a step comes to, by name."""
FEATURES, TERMS = map(dict, _tailwater.Environments.words())

_OBSERVE = ("window", "rtt", "goodput", "marks", "losses", "timeouts")
_REWARD = {"flow_time": -1.0}


class VectorEnv(
    gymnasium.vector.VectorEnv["NDArray[np.float32]", "NDArray[np.float32]", "NDArray[Any]"]
):
    """Many simulations of a scenario that go on together, from decision to decision, on all cores.

    Episodes begin by themselves, each with a seed of its own: ``infos["run"]["seed"]`` of an episode that is over
    repeats it.

    Args:
        scenario: As for :func:`tailwater.run`; with ``scheme`` and ``set`` it is one simulation.
        num_envs: How many simulations.
        scheme: The scheme whose roles stay but for its sender: ``"dctcp"`` has switches that mark.
        set: Settings by key. ``tw.uniform("1Gbps", "10Gbps")``, ``tw.log_uniform`` and ``tw.choice`` are drawn
            anew for every episode, from its seed.
        agents: Who decides: ``"flow"``, an agent for every connection; ``"host"``, one for every receiving host;
            ``"port"``, one at the bottleneck.
        interval: The time from one decision to the next: ``"rtt"``, the longest round trip without queues, or a
            time such as ``"100us"``.
        observe: What an agent sees, in this order: names of ``FEATURES``.
        act: What a decision sets: ``"window"``, in segments; ``"rate"``, as a share of the sender's link;
            ``"factor"``, the window as a multiple of the one before.
        reward: What a step is worth: the name of a term of ``TERMS``, weights of terms, or a function of all terms.
        max_steps: Steps after which an episode is truncated.
        max_window: The largest window in segments; without it what fills the wires and the buffer of the bottleneck.
        autoreset: ``AutoresetMode.NEXT_STEP``, ``SAME_STEP`` or ``DISABLED``.
        jobs: Threads, all cores by default. Results do not depend on it.
        copy: Whether every step returns an array of its own. Without it all return the same one, which the next
            step overwrites.

    Raises:
        ScenarioError: Something is wrong; every mistake is named with its place, its cause and its remedy.
    """

    def __init__(
        self,
        scenario: Source,
        num_envs: int = 64,
        *,
        scheme: str = "newreno",
        set: Mapping[str, Any] | None = None,
        agents: str = "flow",
        interval: str = "rtt",
        observe: Sequence[str] = _OBSERVE,
        act: str = "window",
        reward: Reward = _REWARD,
        max_steps: int | None = None,
        max_window: float | None = None,
        autoreset: AutoresetMode = AutoresetMode.NEXT_STEP,
        jobs: int | None = None,
        copy: bool = True,
    ) -> None:
        count = _values.whole("num_envs", num_envs, 1, 2**20)
        if not isinstance(autoreset, AutoresetMode):
            expected = "give a gymnasium.vector.AutoresetMode"
            raise _values.wrong("autoreset", autoreset, expected)
        if not callable(reward):
            reward = _weights(reward)
        self._inner = _tailwater.Environments(
            {
                **_scenario(scenario, scheme, set),
                "environments": count,
                "agents": _word("agents", agents),
                "interval": _word("interval", interval),
                "observe": _values.texts("observe", observe),
                "act": _word("act", act),
                "reward": [] if callable(reward) else list(reward.items()),
                "max_steps": _values.whole("max_steps", max_steps, 1),
                "max_window": _number("max_window", max_window),
                "autoreset": autoreset.value,
                "jobs": _values.whole("jobs", jobs, 1, 4096),
            }
        )
        self.metadata = {"render_modes": [], "autoreset_mode": autoreset}
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = _spaces(self._inner, observe)
        self.observation_space = gymnasium.vector.utils.batch_space(
            self.single_observation_space, num_envs
        )
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)
        self.features = tuple(observe)
        self._value = reward if callable(reward) else None
        self._copy = copy
        self._mode = autoreset
        shape = (num_envs, self._inner.agents, len(self.features))
        self._observations = np.zeros(shape, np.float32)
        same = autoreset is AutoresetMode.SAME_STEP
        self._finals = np.zeros(shape if same else (0, *shape[1:]), np.float32)
        self._rewards = np.zeros(num_envs)
        self._terminated, self._truncated = np.zeros(num_envs, np.bool_), np.zeros(num_envs, np.bool_)
        self._terms = np.zeros((num_envs, len(TERMS)))
        self._over = np.zeros(num_envs, np.bool_)
        self._begun = False

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[_Numbers, dict[str, Any]]:
        """Begins an episode of every environment, or of those where ``options["reset_mask"]`` is true.

        Args:
            seed: The seed of the first environment, which the others count from, or one for each. Without it the
                environments go on with the episodes of the seed that they had, at first of a random one.
        """
        chosen = np.ones(self.num_envs, np.bool_)
        if options is not None and "reset_mask" in options:
            chosen = np.asarray(options["reset_mask"], np.bool_)
            if chosen.shape != (self.num_envs,):
                expected = f"give {self.num_envs} truth values, one for each environment"
                raise _values.wrong('options["reset_mask"]', options["reset_mask"], expected)
        if not self._begun and not chosen.all():
            expected = "reset all environments first"
            raise _values.wrong('options["reset_mask"]', chosen.tolist(), expected)
        seeds = self._seeds(seed)
        super().reset(seed=seed if isinstance(seed, int) else None)
        self._inner.reset(seeds, chosen.tolist(), self._observations)
        self._begun = True
        self._over[chosen] = False
        infos = {"seed": np.array(self._inner.seeds, np.uint64), "_seed": chosen}
        return self._seen(), infos

    def step(
        self, actions: _Numbers
    ) -> tuple[_Numbers, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Goes on to the next decision of every environment. ``actions`` has a number for every agent of each."""
        if not self._begun:
            raise gymnasium.error.ResetNeeded("Cannot call env.step() before calling env.reset()")
        decisions = np.ascontiguousarray(actions, np.float32)
        if decisions.shape != self.action_space.shape:
            expected = f"give an array of the shape {self.action_space.shape}"
            raise _values.wrong("actions", decisions.shape, expected)
        self._inner.step(
            decisions,
            self._observations,
            self._finals,
            self._rewards,
            self._terminated,
            self._truncated,
            self._terms,
        )
        if self._value is not None:
            self._judge(self._value)
        over = self._terminated | self._truncated
        infos = self._ended(over)
        if self._mode is not AutoresetMode.SAME_STEP:
            self._over = over
        return (
            self._seen(),
            self._rewards.copy(),
            self._terminated.copy(),
            self._truncated.copy(),
            infos,
        )

    def _seen(self) -> _Numbers:
        return self._observations.copy() if self._copy else self._observations

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            if self._begun:
                return [None] * self.num_envs
            seed = int(self.np_random.integers(2**53))
        if isinstance(seed, Sequence):
            if len(seed) != self.num_envs:
                raise _values.wrong("seed", seed, f"give {self.num_envs} seeds, or one")
            found = [_values.whole("seed", one, 0, _MOST_SEED) for one in seed]
            if not self._begun:
                drawn = self.np_random.integers(2**53, size=self.num_envs).tolist()
                found = [own if one is None else one for one, own in zip(found, drawn, strict=True)]
            return found
        first = _values.whole("seed", seed, 0, _MOST_SEED)
        assert first is not None
        return [first + place for place in range(self.num_envs)]

    def _judge(self, value: Callable[[Terms], NDArray[np.float64]]) -> None:
        terms = {name: self._terms[:, place] for place, name in enumerate(TERMS)}
        rewards = np.asarray(value(terms), np.float64)
        if rewards.shape != (self.num_envs,):
            expected = f"return {self.num_envs} numbers, one for each environment"
            raise _values.wrong("reward", rewards.shape, expected)
        # A step that begins an episode is worth nothing.
        self._rewards[:] = np.where(self._over, 0.0, rewards)

    def _ended(self, over: NDArray[np.bool_]) -> dict[str, Any]:
        """What episodes came to that were over with the step."""
        infos: dict[str, Any] = {}
        if not over.any():
            return infos
        for number, episode in self._inner.ended():
            run = infos.setdefault("run", {})
            for name, value in episode.items():
                if name not in run:
                    kind = np.float64 if isinstance(value, float) else np.int64
                    run[name] = np.zeros(self.num_envs, kind)
                run[name][number] = value
            infos.setdefault("_run", np.zeros(self.num_envs, np.bool_))[number] = True
        if infos and self._mode is AutoresetMode.SAME_STEP:
            final = np.full(self.num_envs, None, object)
            for number in np.flatnonzero(over).tolist():
                final[number] = self._finals[number].copy()
            infos |= {"final_obs": final, "_final_obs": over.copy()}
        return infos


class Env(gymnasium.Env["NDArray[np.float32]", "NDArray[np.float32]"]):
    """One simulation as an environment; the arguments of :class:`VectorEnv` but those of many.

    ``info["time_us"]`` is the simulated time; ``info["run"]`` tells in the last step what the episode came to.
    """

    metadata = {"render_modes": []}

    def __init__(
        self,
        scenario: Source,
        *,
        scheme: str = "newreno",
        set: Mapping[str, Any] | None = None,
        agents: str = "flow",
        interval: str = "rtt",
        observe: Sequence[str] = _OBSERVE,
        act: str = "window",
        reward: Reward = _REWARD,
        max_steps: int | None = None,
        max_window: float | None = None,
    ) -> None:
        self._many = VectorEnv(
            scenario,
            1,
            scheme=scheme,
            set=set,
            agents=agents,
            interval=interval,
            observe=observe,
            act=act,
            reward=reward,
            max_steps=max_steps,
            max_window=max_window,
            autoreset=AutoresetMode.DISABLED,
            jobs=1,
            copy=False,
        )
        self.observation_space = self._many.single_observation_space
        self.action_space = self._many.single_action_space
        self.features = self._many.features

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_Numbers, dict[str, Any]]:
        """Begins an episode: that of ``seed``, or the next one of the seed before."""
        super().reset(seed=seed)
        if seed is None and not self._many._begun:
            seed = int(self.np_random.integers(2**53))
        observations, infos = self._many.reset(seed=seed)
        return observations[0].copy(), {"seed": int(infos["seed"][0]), "time_us": self._time()}

    def step(
        self, action: _Numbers
    ) -> tuple[_Numbers, float, bool, bool, dict[str, Any]]:
        """Goes on to the next decision. ``action`` has a number for every agent."""
        actions = np.asarray(action, np.float32)
        if actions.shape != self.action_space.shape:
            expected = f"give an array of the shape {self.action_space.shape}"
            raise _values.wrong("action", actions.shape, expected)
        observations, rewards, terminated, truncated, infos = self._many.step(actions[None])
        info: dict[str, Any] = {"time_us": self._time()}
        if "run" in infos:
            info["run"] = {name: values[0].item() for name, values in infos["run"].items()}
        return (
            observations[0].copy(),
            float(rewards[0]),
            bool(terminated[0]),
            bool(truncated[0]),
            info,
        )

    def _time(self) -> float:
        return self._many._inner.times_us[0]


def _scenario(scenario: Source, scheme: str, set: Mapping[str, Any] | None) -> dict[str, Any]:
    word, text = _source(scenario)
    sets, draws = _draw.split(set)
    return {"word": word, "text": text, "scheme": _word("scheme", scheme), "sets": sets, "draws": draws}


def _spaces(
    inner: _tailwater.Environments, observe: Sequence[str]
) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
    """What one environment shows and takes."""
    low, high = inner.bounds
    seen = gymnasium.spaces.Box(0.0, np.inf, (inner.agents, len(observe)), np.float32)
    return seen, gymnasium.spaces.Box(low, high, (inner.agents,), np.float32)


def _weights(reward: object) -> dict[str, float]:
    if isinstance(reward, str):
        return {reward: 1.0}
    if isinstance(reward, Mapping) and all(isinstance(name, str) for name in reward):
        return {name: _weight(name, weight) for name, weight in reward.items()}
    expected = "give the name of a term, weights as in {'goodput': 1, 'queue': -0.5}, or a function"
    raise _values.wrong("reward", reward, expected)


def _weight(name: str, weight: object) -> float:
    number = _number(f'reward["{name}"]', weight)
    if number is None:
        raise _values.wrong(f'reward["{name}"]', weight, "give a number")
    return number


def _number(name: str, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise _values.wrong(name, value, "give a number")
    return float(value)


def _word(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise _values.wrong(name, value, "give a text")
    return value


_MOST_SEED = 2**63 - 1 - 2**20
"""The largest seed that every environment can count from."""
