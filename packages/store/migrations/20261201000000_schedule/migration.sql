-- Members of named sets, each with the time from which on it is due. A member stays until it is taken off.
CREATE TABLE store.schedule (
  -- Prefix of the store and name of the set.
  schedule text COLLATE "C" NOT NULL,
  member text COLLATE "C" NOT NULL,
  due_at timestamptz NOT NULL,
  PRIMARY KEY (schedule, member)
);

CREATE INDEX schedule_due ON store.schedule (schedule, due_at);
