"""Tables, and what reads them."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tailwater as tw

NAMES = ("rows", "points", "flows", "ports", "series")


def _values(table: tw.Table, how: str) -> list[dict[str, Any]]:
    """The rows by a library, with missing values as None."""
    import duckdb
    import pyarrow as pa

    if how == "polars":
        return table.to_polars().to_dicts()
    if how == "pandas":
        frame = table.to_pandas()
        frame = frame.astype(object).where(frame.notna(), None)
        return list(frame.to_dict("records"))
    if how == "pyarrow":
        return list(table.to_arrow().to_pylist())
    if how == "duckdb":
        data = table  # The name that the query has.
        return list(duckdb.sql("from data").to_arrow_table().to_pylist())
    # What the file says by itself.
    return list(pa.parquet.read_table(table.path).to_pylist())


def _plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Numbers that are none are equal."""
    none = lambda value: None if value != value else value  # noqa: E731
    return [{key: none(value) for key, value in row.items()} for row in rows]


@pytest.mark.parametrize("name", NAMES)
def test_every_library_reads_the_same_values(small: tw.Results, name: str) -> None:
    import pyarrow.parquet  # noqa: F401

    table: tw.Table = getattr(small, name)
    expected = _plain(_values(table, "pyarrow" if table.path is None else "file"))
    assert len(expected) == len(table) > 0
    for how in ("polars", "pandas", "pyarrow", "duckdb"):
        assert _plain(_values(table, how)) == expected, how


@pytest.mark.parametrize("name", ["flows", "ports"])
def test_a_compressed_file_is_read_by_every_library_from_its_path(small: tw.Results, name: str) -> None:
    import duckdb
    import pandas
    import polars
    import pyarrow.parquet as pq

    table: tw.Table = getattr(small, name)
    path = str(table.path)
    group = pq.ParquetFile(path).metadata.row_group(0)
    assert {group.column(place).compression for place in range(group.num_columns)} == {"SNAPPY"}
    column = "fct_us" if name == "flows" else "drops"
    expected = table.to_arrow().column(column).to_pylist()
    assert pq.read_table(path).column(column).to_pylist() == expected
    assert polars.read_parquet(path)[column].to_list() == expected
    assert pandas.read_parquet(path)[column].to_list() == expected
    assert duckdb.sql(f"select {column} from '{path}'").to_arrow_table().column(column).to_pylist() == expected


@pytest.mark.parametrize("name", ["flows", "ports", "series"])
def test_columns_have_the_types_of_the_file(small: tw.Results, name: str) -> None:
    import pyarrow.parquet as pq

    table: tw.Table = getattr(small, name)
    schema = table.to_arrow().schema
    assert schema.remove_metadata() == pq.read_schema(table.path).remove_metadata()


def test_columns_have_units_and_descriptions(small: tw.Results) -> None:
    columns = {column.name: column for column in small.flows.columns}
    fct = columns["fct_us"]
    assert (fct.unit, fct.type) == ("us", "float64")
    assert "completion time" in fct.description
    field = small.flows.to_arrow().schema.field("fct_us")
    assert field.metadata == {b"unit": b"us", b"description": fct.description.encode()}
    for name in NAMES:
        table: tw.Table = getattr(small, name)
        assert all(column.description for column in table.columns), name
        assert f"{len(table):,} rows" in repr(table)
        assert "<table>" in table._repr_html_()


def test_rows_have_means_and_intervals(small: tw.Results) -> None:
    rows = small.rows.to_arrow().to_pylist()
    summary = small.summary["rows"]
    assert [row["scheme"] for row in rows] == [row["scheme"] for row in summary]
    assert [row["workload.senders"] for row in rows] == [4, 4, 8, 8]
    for row, told in zip(rows, summary, strict=True):
        estimate = told["metrics"]["fct_p99_us"]
        ends = (row["fct_p99_us"], row["fct_p99_us_low"], row["fct_p99_us_high"])
        assert ends == (estimate["mean"], estimate["low"], estimate["high"])


def test_points_are_those_of_the_summary(small: tw.Results) -> None:
    points = small.points.to_arrow().to_pylist()
    summary = small.summary["points"]
    assert [point["digest"] for point in points] == [point["digest"] for point in summary]
    for point, told in zip(points, summary, strict=True):
        assert point["goodput_bps"] == told["metrics"]["goodput_bps"]
        assert point["seed"] == told["seed"]


def test_collectives_name_the_flow_that_held_them_up() -> None:
    workload = {"kind": "collective", "ranks": 4, "size": "80KB"}
    scenario = {"schemes": ["newreno", "dctcp"], "link": {"jitter": "auto"}, "workload": workload}
    run = tw.run(scenario, seeds=2)
    collectives = run.collectives.to_arrow().to_pylist()
    assert [one["scheme"] for one in collectives] == ["newreno", "newreno", "dctcp", "dctcp"]
    for one in collectives:
        assert (one["completed"], one["steps"]) == (1, 6)
        assert one["over_ideal"] == one["mean_us"] / one["ideal_us"] > 1
        flows = run.flows.to_arrow().to_pylist()
        held = [flow for flow in flows if (flow["point"], flow["flow"]) == (one["point"], one["held_flow"])]
        assert [(flow["sender"], flow["receiver"]) for flow in held] == [(one["held_sender"], one["held_receiver"])]


def test_a_run_without_collectives_has_an_empty_table_of_them(small: tw.Results) -> None:
    assert len(small.collectives) == 0


def test_every_reader_gets_the_same_memory(small: tw.Results) -> None:
    def addresses(name: str) -> list[int]:
        column = small.flows.to_arrow().column(name)
        return [chunk.buffers()[1].address for chunk in column.chunks]

    assert addresses("size_bytes") == addresses("size_bytes")
    of_polars = small.flows.to_polars()["start_us"].to_arrow()
    assert of_polars.buffers()[1].address == addresses("start_us")[0]


def test_values_outlive_the_run_that_they_came_from() -> None:
    run = tw.run("incast", schemes="newreno", set={"workload.senders": 4})
    table = run.flows.to_arrow()
    expected = run.flows.to_arrow().to_pylist()
    del run
    gc.collect()
    assert table.to_pylist() == expected


def test_a_stream_can_be_asked_for_many_times(small: tw.Results) -> None:
    capsules = [small.flows.__arrow_c_stream__() for _ in range(3)]
    assert len({id(capsule) for capsule in capsules}) == 3
    # Those that nobody took are released with their capsule.
    del capsules
    gc.collect()
    assert len(small.flows.to_arrow()) == len(small.flows)


def test_what_was_not_recorded_says_how_to() -> None:
    run = tw.run("incast", schemes="newreno", set={"workload.senders": 2}, trace="off")
    with pytest.raises(tw.ScenarioError, match="trace="):
        _ = run.series


def test_a_library_that_is_missing_is_named(
    small: tw.Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="python -m pip install polars"):
        small.rows.to_polars()
    ways: list[Callable[[], object]] = [small.rows.to_arrow, small.rows.to_pandas]
    assert all(len(way()) == 4 for way in ways)  # type: ignore[arg-type]


def test_times_of_rounds_are_those_of_their_flows(tmp_path: Path) -> None:
    sets = {"workload.senders": 6, "workload.rounds": 4}
    run = tw.run("incast", schemes="newreno", set=sets, seeds=1, out=tmp_path / "run")
    rounds: dict[int, list[dict[str, Any]]] = {}
    for flow in run.flows.to_arrow().to_pylist():
        rounds.setdefault(flow["round"], []).append(flow)
        assert flow["slowdown"] > 1
    assert [len(flows) for flows in rounds.values()] == [6] * 4
    took = [
        max(flow["completion_us"] for flow in flows) - min(flow["start_us"] for flow in flows)
        for flows in rounds.values()
    ]
    [point] = run.points.to_arrow().to_pylist()
    assert point["round_max_us"] == pytest.approx(max(took))
    assert point["round_p99_us"] == point["round_max_us"]
    assert point["round_p50_us"] == pytest.approx(sorted(took)[1])
    assert point["rounds_completed"] == 4
    # Too few flows.
    assert point["fct_p999_us"] is None
