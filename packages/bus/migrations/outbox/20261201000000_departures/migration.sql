-- Lives of agents that ended. A request that was in flight may leave something of one for a while, so each is cleared away again until then.
CREATE TABLE bus.departure (
  aid text NOT NULL,
  registered_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3) NOT NULL,
  PRIMARY KEY (aid, registered_at)
);
