-- The tables of the data set in the folder `fleet`, for Spark. Columns that later versions of dyntrace add are null in older files.
CREATE OR REPLACE TEMPORARY VIEW events USING parquet OPTIONS (path 'fleet/events', mergeSchema 'true');
CREATE OR REPLACE TEMPORARY VIEW operations USING parquet OPTIONS (path 'fleet/operations', mergeSchema 'true');
CREATE OR REPLACE TEMPORARY VIEW tasks USING parquet OPTIONS (path 'fleet/tasks', mergeSchema 'true');
CREATE OR REPLACE TEMPORARY VIEW waits USING parquet OPTIONS (path 'fleet/waits', mergeSchema 'true');
CREATE OR REPLACE TEMPORARY VIEW messages USING parquet OPTIONS (path 'fleet/messages', mergeSchema 'true');
CREATE OR REPLACE TEMPORARY VIEW losses USING parquet OPTIONS (path 'fleet/losses', mergeSchema 'true');
-- Empty until `dyntrace clocks` has run.
CREATE OR REPLACE TEMPORARY VIEW clocks USING parquet OPTIONS (path 'fleet/clocks', mergeSchema 'true');
