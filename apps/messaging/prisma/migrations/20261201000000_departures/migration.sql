-- Every service has this table in the schema bus, with the rows of this one. A replica of the version before cannot note a deletion any more: its consumer
-- tries again later, and a replica of this version takes the event.
DROP TABLE departure;
