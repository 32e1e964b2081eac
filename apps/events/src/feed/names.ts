/** The names of feeds, which are the audiences of events. */
export const agentFeed = (aid: string): string => `agent:${aid}`;
export const channelFeed = (channel_id: string): string => `channel:${channel_id}`;
export const globalFeed = 'global';

/** The feed of an agent that is watched; a channel `presence:<id>` stands for those of all whom an agent watches. */
export const presenceFeed = (aid: string): string => `presence:${aid}`;
export const presenceFeeds = (aids: readonly string[]): string[] => aids.map(presenceFeed);
