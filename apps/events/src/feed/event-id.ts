import { z } from 'zod';

/** The id of an event for agents (decisions 6.1): 20 digits, so that ids sort as text. */
export const eventId = (position: number): string => `evt_${String(position).padStart(20, '0')}`;

export const positionOf = (id: string): number => Number(id.slice(4));

/** A field that is an event id. */
export const eventIdField = z.string('INVALID_EVENT_ID').regex(/^evt_\d{20}$/, 'INVALID_EVENT_ID');
