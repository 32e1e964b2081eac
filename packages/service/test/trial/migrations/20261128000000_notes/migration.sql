CREATE TABLE note (
  id uuid PRIMARY KEY,
  text text NOT NULL UNIQUE
);
