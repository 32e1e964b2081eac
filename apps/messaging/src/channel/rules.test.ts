import fc from 'fast-check';
import { ChannelType } from '../generated/prisma/enums.js';
import { refuseInviting, refuseJoining, refusePosting, refuseReading, type Standing } from './rules.js';

const standings = fc.record<Standing>({
  is_public: fc.boolean(),
  channel_type: fc.constantFrom(...Object.values(ChannelType)),
  created_by: fc.constantFrom(null, 'creator'),
  aid: fc.constantFrom('creator', 'other'),
  is_member: fc.boolean(),
  is_invited: fc.boolean(),
});
/** The standings are finite: this many runs meet all of them. */
const each = (check: (standing: Standing) => void) => fc.assert(fc.property(standings, check), { numRuns: 2_000 });

const rules = { refuseReading, refuseJoining, refuseInviting, refusePosting };

test('a private channel does not exist for a stranger, whatever it tries', () =>
  each((standing) => {
    const stranger = { ...standing, is_public: false, is_member: false, is_invited: false };
    for (const refuse of Object.values(rules)) expect(refuse(stranger)).toBe('CHANNEL_NOT_FOUND');
  }));

test('an invitation opens a private channel for joining, and for nothing else', () =>
  each((standing) => {
    const invited = { ...standing, is_public: false, is_member: false, is_invited: true };
    expect(refuseJoining(invited)).toBeUndefined();
    for (const refuse of [refuseReading, refuseInviting, refusePosting])
      expect(refuse(invited)).toBe('CHANNEL_NOT_FOUND');
  }));

test('everybody reads and joins a public channel', () =>
  each((standing) => {
    const anybody = { ...standing, is_public: true };
    expect([refuseReading(anybody), refuseJoining(anybody)]).toEqual([undefined, undefined]);
  }));

test('members read, join again and invite, and post unless the channel is an announcement of somebody else', () =>
  each((standing) => {
    const member = { ...standing, is_member: true };
    expect([refuseReading, refuseJoining, refuseInviting].map((refuse) => refuse(member))).toEqual(
      Array(3).fill(undefined),
    );
    const reserved = member.channel_type === 'announce' && member.created_by !== member.aid;
    expect(refusePosting(member)).toBe(reserved ? 'PERMISSION_DENIED' : undefined);
  }));

test('those who are no members of a public channel neither post nor invite, its creator included', () =>
  each((standing) => {
    const outsider = { ...standing, is_public: true, is_member: false };
    expect([refusePosting(outsider), refuseInviting(outsider)]).toEqual(['NOT_MEMBER', 'NOT_MEMBER']);
  }));
