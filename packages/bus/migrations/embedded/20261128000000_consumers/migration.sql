-- Retries and dead letters are kept by the consuming service.
DROP TABLE bus.retries;
DROP TABLE bus.dead_letters;

-- The trace of the publication, as the headers of a broker carry it.
ALTER TABLE bus.messages ADD COLUMN traceparent text;
