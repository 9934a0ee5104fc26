/** What an account does with a group of its own, one thing after the other. */
import type { Media } from '../../../machines/model/media.ts'
import type { Operation, OperationKind } from '../../../machines/model/operation.ts'
import { PERMISSIONS } from '../../../machines/model/rights.ts'
import type { Grades, Peer } from './harness.ts'
import { need, words } from './scene.ts'

/** What is done, and what is found when the group is looked at afterwards. */
export interface Step {
  readonly kind: OperationKind
  readonly sentence: string
  operation(place: Places): Operation
  readonly yields?: object
  /** What somebody else does first. */
  before?(place: Places, peer: Peer): Promise<void>
  look?(place: Places): { readonly operation: Operation; readonly finds: object }
}

export interface Places {
  readonly chat: string
  readonly person: string
  readonly message: string
  /** The invite link that was made last. */
  readonly link: string
  readonly photo: Media
  readonly grades: Grades
}

const title = words('title')
const description = words('about')
const permissions = ['send_messages', 'send_photos'] as const
/** Whoever has any right may manage the chat, on networks that know such a right. */
export const finestGrades: Grades = {
  restricted: ['send_messages'],
  administrator: ['manage_chat', 'pin_messages'],
}

const memberIs = (status: string, more: (grades: Grades) => object = () => ({})) => ({
  look: ({ chat, person, grades }: Places) => ({
    operation: { kind: 'member' as const, chat, person },
    finds: { kind: 'member', member: { status, ...more(grades) } },
  }),
})
const chatHas = (facts: object) => ({
  look: ({ chat }: Places) => ({
    operation: { kind: 'describe' as const, chat },
    finds: { kind: 'chat', chat: facts },
  }),
})

export const groupSteps: readonly Step[] = [
  {
    kind: 'set_title',
    sentence: 'a group gets a title',
    operation: ({ chat }) => ({ kind: 'set_title', chat, title }),
    ...chatHas({ title }),
  },
  {
    kind: 'set_description',
    sentence: 'a group gets a description',
    operation: ({ chat }) => ({ kind: 'set_description', chat, description }),
    ...chatHas({ description }),
  },
  {
    kind: 'set_photo',
    sentence: 'a group gets a photo',
    operation: ({ chat, photo }) => ({ kind: 'set_photo', chat, photo }),
    ...chatHas({ photo: { kind: 'photo' } }),
  },
  {
    kind: 'remove_reaction',
    sentence: 'a reaction of somebody else is taken back',
    before: ({ chat, message }, peer) =>
      need(peer.reactIn, 'peerOpinions').call(peer, chat, message, '👍'),
    operation: ({ chat, person, message }) => ({ kind: 'remove_reaction', chat, person, message }),
  },
  {
    kind: 'remove_all_reactions',
    sentence: 'all reactions of somebody else are taken back',
    before: ({ chat, message }, peer) =>
      need(peer.reactIn, 'peerOpinions').call(peer, chat, message, '👍'),
    operation: ({ chat, person }) => ({ kind: 'remove_all_reactions', chat, person }),
  },
  {
    kind: 'set_permissions',
    sentence: 'members may do less',
    operation: ({ chat }) => ({ kind: 'set_permissions', chat, permissions }),
    ...chatHas({ permissions }),
  },
  {
    kind: 'pin',
    sentence: 'a message is pinned',
    operation: ({ chat, message }) => ({ kind: 'pin', chat, message }),
    look: ({ chat, message }) => ({
      operation: { kind: 'describe', chat },
      finds: { chat: { pinned: { native: message } } },
    }),
  },
  {
    kind: 'unpin',
    sentence: 'a message is unpinned',
    operation: ({ chat, message }) => ({ kind: 'unpin', chat, message }),
    ...chatHas({ pinned: undefined }),
  },
  {
    kind: 'unpin_all',
    sentence: 'all messages are unpinned',
    operation: ({ chat }) => ({ kind: 'unpin_all', chat }),
    ...chatHas({ pinned: undefined }),
  },
  {
    kind: 'count_members',
    sentence: 'members are counted',
    operation: ({ chat }) => ({ kind: 'count_members', chat }),
    yields: { kind: 'number', number: 2 },
  },
  {
    kind: 'administrators',
    sentence: 'administrators are listed',
    operation: ({ chat }) => ({ kind: 'administrators', chat }),
    yields: { kind: 'members', members: [{ status: 'creator' }] },
  },
  {
    kind: 'restrict',
    sentence: 'a member may do less than the others',
    operation: ({ chat, person, grades }) => ({
      kind: 'restrict',
      chat,
      person,
      permissions: grades.restricted,
    }),
    ...memberIs('restricted', ({ restricted }) => ({ permissions: restricted })),
  },
  {
    kind: 'restrict',
    sentence: 'a member may do everything again',
    operation: ({ chat, person }) => ({ kind: 'restrict', chat, person, permissions: PERMISSIONS }),
  },
  {
    kind: 'promote',
    sentence: 'a member becomes an administrator',
    operation: ({ chat, person, grades }) => ({
      kind: 'promote',
      chat,
      person,
      rights: grades.administrator,
    }),
    ...memberIs('administrator', ({ administrator }) => ({ rights: administrator })),
  },
  {
    kind: 'promote',
    sentence: 'and a member again',
    operation: ({ chat, person }) => ({ kind: 'promote', chat, person, rights: [] }),
  },
  {
    kind: 'invite',
    sentence: 'an invite link is made',
    operation: ({ chat }) => ({ kind: 'invite', chat, primary: false, name: 'friends' }),
    yields: { kind: 'invite', invite: { name: 'friends', isPrimary: false, isRevoked: false } },
  },
  {
    kind: 'ban',
    sentence: 'a member is banned',
    operation: ({ chat, person }) => ({ kind: 'ban', chat, person }),
    ...memberIs('kicked'),
  },
  {
    kind: 'unban',
    sentence: 'and may come back',
    operation: ({ chat, person }) => ({ kind: 'unban', chat, person, onlyIfBanned: true }),
    ...memberIs('left'),
  },
  {
    kind: 'edit_invite',
    sentence: 'the link asks for approval',
    operation: ({ chat, link }) => ({ kind: 'edit_invite', chat, link, needsApproval: true }),
    yields: { kind: 'invite', invite: { needsApproval: true } },
  },
  {
    kind: 'answer_join',
    sentence: 'somebody who asked is let in',
    before: ({ link }, peer) => need(peer.follow, 'group').call(peer, link),
    operation: ({ chat, person }) => ({ kind: 'answer_join', chat, person, approves: true }),
    ...memberIs('member'),
  },
  {
    kind: 'revoke_invite',
    sentence: 'the link is revoked',
    operation: ({ chat, link }) => ({ kind: 'revoke_invite', chat, link }),
    yields: { kind: 'invite', invite: { isRevoked: true } },
  },
  {
    kind: 'leave',
    sentence: 'the group is left',
    operation: ({ chat }) => ({ kind: 'leave', chat }),
  },
]
