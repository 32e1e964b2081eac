-- Lives of agents that ended. A request that was in flight may leave something of one for a while, so each is cleared away again until then.
CREATE TABLE bus.departure (
  aid text NOT NULL,
  registered_at timestamptz(3) NOT NULL,
  deleted_at timestamptz(3) NOT NULL,
  PRIMARY KEY (aid, registered_at)
);

-- Some services had this table in their own schema, whose migrations come later and drop it.
DO $$
BEGIN
  IF to_regclass('public.departure') IS NOT NULL THEN
    INSERT INTO bus.departure (aid, registered_at, deleted_at) SELECT aid, registered_at, deleted_at FROM public.departure;
  END IF;
END $$;
