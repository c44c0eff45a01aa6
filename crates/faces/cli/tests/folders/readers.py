"""Reads the tables of a run folder with DuckDB, pandas and polars; prints what each finds as JSON."""

import json
import sys

import duckdb
import numpy
import pandas
import polars

folder = sys.argv[1]
paths = {name: f"{folder}/{name}.parquet" for name in ("flows", "ports", "series")}


def with_duckdb():
    def query(text):
        return duckdb.sql(text).fetchall()

    found = {name: query(f"select count(*) from '{path}'")[0][0] for name, path in paths.items()}
    # The discrete quantile is the one of nearest rank.
    rows = query(
        "select point, any_value(scheme), quantile_disc(fct_us, 0.99) "
        f"from '{paths['flows']}' group by point"
    )
    found["p99"] = {point: [scheme, value] for point, scheme, value in rows}
    found["drops"] = int(query(f"select sum(drops) from '{paths['ports']}'")[0][0])
    found["timeouts"] = int(query(f"select sum(timeouts) from '{paths['flows']}'")[0][0])
    found["columns"] = [row[0] for row in query(f"describe select * from '{paths['flows']}'")]
    senders = '"workload.senders" = 40'
    points = query(f"select count(distinct point) from '{paths['series']}' where {senders}")
    found["points_of_40"] = points[0][0]
    jitter = query(f"select distinct \"workload.jitter\" from '{paths['flows']}'")
    found["jitter"] = [row[0] for row in jitter]
    return found


def with_pandas():
    tables = {name: pandas.read_parquet(path) for name, path in paths.items()}
    found = {name: len(table) for name, table in tables.items()}
    found["p99"] = {
        point: [
            rows["scheme"].iloc[0],
            float(numpy.percentile(rows["fct_us"], 99, method="inverted_cdf")),
        ]
        for point, rows in tables["flows"].groupby("point")
    }
    found["drops"] = int(tables["ports"]["drops"].sum())
    found["timeouts"] = int(tables["flows"]["timeouts"].sum())
    found["columns"] = list(tables["flows"].columns)
    few = pandas.read_parquet(paths["series"], columns=["point", "workload.senders"])
    found["points_of_40"] = int(few[few["workload.senders"] == 40]["point"].nunique())
    found["jitter"] = tables["flows"]["workload.jitter"].unique().tolist()
    return found


def with_polars():
    tables = {name: polars.read_parquet(path) for name, path in paths.items()}
    found = {name: table.height for name, table in tables.items()}
    # Nearest rank in whole numbers, so that no rounding of 0.99 matters.
    rank = (polars.len() * 99 + 99) // 100 - 1
    rows = tables["flows"].group_by("point").agg(
        polars.col("scheme").first(), polars.col("fct_us").sort().get(rank)
    )
    found["p99"] = {point: [scheme, value] for point, scheme, value in rows.iter_rows()}
    found["drops"] = tables["ports"]["drops"].sum()
    found["timeouts"] = tables["flows"]["timeouts"].sum()
    found["columns"] = tables["flows"].columns
    found["series_columns"] = tables["series"].columns
    few = tables["series"].filter(polars.col("workload.senders") == 40)
    found["points_of_40"] = few["point"].n_unique()
    found["jitter"] = tables["flows"]["workload.jitter"].unique().to_list()
    return found


print(json.dumps({"duckdb": with_duckdb(), "pandas": with_pandas(), "polars": with_polars()}))
