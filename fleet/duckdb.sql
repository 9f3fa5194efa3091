-- The tables of the data set in the folder `fleet`, for DuckDB. Columns that later versions of dyntrace add are null in older files.
CREATE OR REPLACE VIEW events AS
SELECT * FROM read_parquet('fleet/events/*/*/*/*.parquet', hive_partitioning = true, union_by_name = true);
CREATE OR REPLACE VIEW operations AS
SELECT * FROM read_parquet('fleet/operations/*/*/*/*.parquet', hive_partitioning = true, union_by_name = true);
CREATE OR REPLACE VIEW tasks AS
SELECT * FROM read_parquet('fleet/tasks/*/*/*/*.parquet', hive_partitioning = true, union_by_name = true);
CREATE OR REPLACE VIEW waits AS
SELECT * FROM read_parquet('fleet/waits/*/*/*/*.parquet', hive_partitioning = true, union_by_name = true);
CREATE OR REPLACE VIEW messages AS
SELECT * FROM read_parquet('fleet/messages/*/*/*/*.parquet', hive_partitioning = true, union_by_name = true);
CREATE OR REPLACE VIEW losses AS
SELECT * FROM read_parquet('fleet/losses/*/*/*/*.parquet', hive_partitioning = true, union_by_name = true);
-- Empty until `dyntrace clocks` has run.
CREATE OR REPLACE VIEW clocks AS
SELECT * FROM read_parquet('fleet/clocks/*.parquet', union_by_name = true);
