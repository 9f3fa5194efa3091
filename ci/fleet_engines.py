"""The engines that answer the questions of fleet/. Each is made for the folder that holds the data set `fleet`. Its method `ask` takes SQL
and returns the rows, as dictionaries of column names and values of Python. DuckDB and DataFusion then tell the bytes `read` for them."""

import decimal
import json
import pathlib
import re
import subprocess

questions = pathlib.Path("fleet").resolve()


class DuckDB:
    def __init__(self, folder):
        import duckdb

        self.folder = folder
        self.base = duckdb.connect()
        self.read = 0
        for view in views("duckdb.sql", folder):
            self.base.execute(view)

    def ask(self, text):
        before = bytes_read()
        answer = self.base.sql(text)
        rows = answer.fetchall()
        self.read = bytes_read() - before
        return dictionaries(answer.columns, rows)


class Spark:
    """A session of the cluster that spark-defaults.conf names, in SPARK_CONF_DIR."""

    def __init__(self, folder):
        from pyspark.sql import SparkSession

        self.folder = folder
        self.session = SparkSession.builder.getOrCreate().newSession()
        for view in views("spark.sql", folder):
            self.session.sql(view)

    def ask(self, text):
        answer = self.session.sql(text)
        return dictionaries(answer.columns, answer.collect())


class DataFusion:
    """`dyntrace query`, which has the tables without a file of views."""

    def __init__(self, folder):
        self.folder = folder
        self.read = 0

    def ask(self, text):
        command = ["dyntrace", "query", "fleet", "--json", "--stats", text]
        run = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if run.returncode:
            raise RuntimeError(f"{text}\n{run.stderr}")
        self.read = int(re.search(r"read: (\d+) bytes", run.stderr)[1])
        return [{column: plain(value) for column, value in row.items()} for row in json.loads(run.stdout)]


by_name = {"duckdb": DuckDB, "spark": Spark, "datafusion": DataFusion}


def views(file, folder):
    """The statements of a file of views, for the tables that are in the folder."""
    statements = (questions / file).read_text().replace("'fleet/", f"'{folder}/fleet/").split(";")
    return [text for text in statements if (table := re.search(r"VIEW (\w+)", text)) and (folder / "fleet" / table[1]).is_dir()]


def bytes_read():
    """The bytes that this process has read by system calls, also from the page cache."""
    return int(re.search(r"^rchar: (\d+)$", pathlib.Path("/proc/self/io").read_text(), re.MULTILINE)[1])


def dictionaries(columns, rows):
    return [{column: plain(value) for column, value in zip(columns, row)} for row in rows]


def plain(value):
    """The value as an int or a float if it is a decimal, as sums are in some engines."""
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value
