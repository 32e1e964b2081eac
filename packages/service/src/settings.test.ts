import { settings } from './settings.js';

// Addresses of other processes in the forms in which people write them. What nobody could connect to is refused at the start, by the name of its variable.

test.each([
  ['grpcAddress', 'identity:5101'],
  ['grpcAddress', '127.0.0.1:5101'],
  ['grpcAddress', '[::1]:5101'],
  ['grpcAddress', 'dns:///identity.acsp.svc.cluster.local:5101'],
  ['grpcAddress', 'dns:identity:5101'],
  ['grpcAddress', 'unix:/run/identity.sock'],
  ['postgresUrl', 'postgresql://acsp:p%40ss%2Fword@db:5432/tasks'],
  ['postgresUrl', 'postgres://acsp@db'],
  ['postgresUrl', 'postgresql://acsp@[::1]:5432/tasks?sslmode=require'],
  ['postgresUrl', 'postgresql://acsp:secret@/tasks?host=/var/run/postgresql'],
  ['postgresUrl', 'postgresql:///tasks?host=/var/run/postgresql'],
  ['postgresUrl', 'postgresql://%2Fvar%2Frun%2Fpostgresql/tasks'],
  ['postgresUrl', 'socket:/var/run/postgresql?db=tasks'],
  ['natsUrl', 'nats://user:p%40ss@nats:4222'],
  ['natsUrl', 'tls://nats'],
  ['natsUrl', 'nats:4222'],
  ['natsUrl', '[::1]:4222'],
  ['natsUrl', 'nats://a:4222, nats://b:4222,'],
  ['redisUrl', 'redis://:p%40ss@redis:6379/1'],
  ['redisUrl', 'rediss://redis'],
  ['redisUrl', 'redis:6379'],
  ['redisUrl', '/run/redis.sock'],
] as const)('%s takes %s', (kind, text) => {
  expect(settings[kind].safeParse(text)).toMatchObject({ success: true, data: text });
});

test.each([
  ['grpcAddress', 'identity'],
  ['grpcAddress', 'http://identity:5101'],
  ['grpcAddress', 'grpc://identity:5101'],
  ['grpcAddress', 'identity:5101/'],
  ['grpcAddress', '::1:5101'],
  ['postgresUrl', 'db:5432/tasks'],
  ['postgresUrl', 'tasks'],
  ['postgresUrl', 'mysql://db/tasks'],
  ['postgresUrl', 'jdbc:postgresql://db/tasks'],
  ['postgresUrl', 'postgresql://db:port/tasks'],
  ['natsUrl', 'http://nats:4222'],
  ['natsUrl', 'nats://'],
  ['natsUrl', 'nats://a:4222,nats://b:port'],
  ['natsUrl', ' , '],
  ['redisUrl', 'http://redis:6379'],
  ['redisUrl', 'redis://redis:port'],
] as const)('%s refuses %s', (kind, text) => {
  expect(settings[kind].safeParse(text).success).toBe(false);
});
