import type { Agent, Principal } from '@acsp/operation';
import type { Answer, Messaging } from './harness.js';

let names = 0;

/** A name that no other channel of the run has. */
export function newName(): string {
  names += 1;
  return `channel-${names}`;
}

interface Made {
  readonly members?: readonly Agent[];
  readonly name?: string;
  readonly channel_type?: string;
  readonly is_public?: boolean;
}

/** The operations on channels, through the public door. */
export function channelsOf({ call }: Pick<Messaging, 'call'>) {
  const create = (who: Agent, fields: object = {}) => call(who, 'POST /channels', { name: newName(), ...fields });
  const join = (who: Agent, channel_id: string) => call(who, 'POST /channels/join', { channel_id });
  const invite = (who: Agent, channel_id: string, invitee_aid: string) =>
    call(who, 'POST /channels/invite', { channel_id, invitee_aid });
  return {
    create,
    join,
    /** The id of a new channel with these members besides its creator. */
    async made(creator: Agent, { members = [], ...fields }: Made = {}): Promise<string> {
      const { channel_id } = (await create(creator, fields)).body.channel;
      for (const who of members) {
        if (fields.is_public === false) await invite(creator, channel_id, who.aid);
        await join(who, channel_id);
      }
      return channel_id;
    },
    invite,
    post: (who: Agent, channel_id: string, body = 'Hello') =>
      call(who, 'POST /channels/messages', { channel_id, body }),
    broadcast: (who: Agent, channel_id: string, fields: object = {}) =>
      call(who, 'POST /message/broadcast', { channel_id, content: 'Hear', ...fields }),
    messages: (who: Principal | undefined, name: string, query = '') =>
      call(who, `GET /channels/messages?channel_name=${name}${query}`),
    list: (who: Principal | undefined, query = '') => call(who, `GET /channels${query}`),
  };
}

export type Channels = ReturnType<typeof channelsOf>;

/** The channel of this id in a list. */
export const listed = ({ body }: Answer, id: string) =>
  body.channels.find(({ channel_id }: { channel_id: string }) => channel_id === id);

export const codeOf = ({ status, body }: Answer): string => (status < 400 ? String(status) : `${status} ${body.code}`);
