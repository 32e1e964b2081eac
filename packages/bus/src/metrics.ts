import { counter, gauge } from '@acsp/telemetry';

export const published = counter('acsp_events_published_total', 'Events published by the relay', ['service']);
export const parked = counter('acsp_events_parked_total', 'Outbox rows that cannot be published', ['service']);
export const outboxLag = gauge('acsp_outbox_lag_seconds', 'Age of the oldest unpublished event', ['service']);
export const consumerLag = gauge('acsp_consumer_lag_events', 'Events that a consumer has yet to handle', ['consumer']);
export const attempts = counter('acsp_consumer_attempts_total', 'Handlings of events, by outcome', ['consumer', 'outcome']);
export const deadLetters = counter('acsp_dead_letters_total', 'Events given up by a consumer', ['consumer']);
