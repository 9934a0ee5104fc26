/** Chats, people, members, invite links, and service messages about members, shared people and communities, in the reference's JSON. */

import type { Chat, Service, Surface } from '../../../machines/model/content.ts'
import type { Boost, Invite, Member } from '../../../machines/model/membership.ts'
import type { Person } from '../../../machines/model/person.ts'
import {
  PERMISSIONS,
  type Permission,
  type Right,
  rightsIn,
} from '../../../machines/model/rights.ts'
import type { Ids } from '../../identities/store.ts'
import type { NamedFile } from '../file-id.ts'

/** Gives public ids to a client's JSON: the integers of chats and messages, and the ids of files. */
export interface Names extends Ids {
  file(file: NamedFile): string
  /** The account itself; absent until a session has reported it. */
  readonly self?: string | undefined
}

/** Members, permissions and invite links in the reference's JSON. `surface`: the kind of the chat. */
export function memberJson(member: Member, surface: Surface, ids: Names): object {
  const { status, title, permissions, until = 0 } = member
  const shown = { status, user: userJson(member.person, ids) }
  switch (status) {
    case 'creator':
      return {
        ...shown,
        is_anonymous: member.isAnonymous ?? false,
        ...present({ custom_title: title }),
      }
    case 'administrator':
      return {
        ...shown,
        can_be_edited: member.isEditable ?? false,
        is_anonymous: member.isAnonymous ?? false,
        ...rightsJson(rightsIn(surface), member.rights ?? []),
        // No network has this right, and strict libraries read no administrator without it.
        can_send_welcome_messages: false,
        ...present({ custom_title: title }),
      }
    case 'restricted':
      return {
        ...shown,
        is_member: !member.isOutside,
        ...present({ tag: member.tag }),
        ...permissionsJson(permissions ?? []),
        until_date: until,
      }
    case 'kicked':
      return { ...shown, until_date: until }
    case 'member':
      return { ...shown, ...present({ until_date: member.until, tag: member.tag }) }
    case 'left':
      return shown
  }
}

const MEDIA = PERMISSIONS.filter((name) => /^send_(audio|document|photo|video|voice)/.test(name))

/** With the older name for all kinds of media. */
export const permissionsJson = (permissions: readonly Permission[]) => ({
  ...flags(PERMISSIONS, permissions),
  can_send_media_messages: MEDIA.some((name) => permissions.includes(name)),
})

/** With the older name for the right to manage video chats. */
const rightsJson = (known: readonly Right[], given: readonly Right[]) => ({
  ...flags(known, given),
  can_manage_voice_chats: given.includes('manage_video_chats'),
})

export const boostJson = ({ id, person, at, expiresAt }: Boost, ids: Names) => ({
  boost_id: id,
  add_date: at,
  expiration_date: expiresAt,
  source: { source: 'premium', user: userJson(person, ids) },
})

export const inviteJson = (invite: Invite, ids: Names): object => ({
  invite_link: invite.link,
  creator: userJson(invite.creator, ids),
  creates_join_request: invite.needsApproval,
  is_primary: invite.isPrimary,
  is_revoked: invite.isRevoked,
  ...present({
    name: invite.name,
    expire_date: invite.expiresAt,
    member_limit: invite.memberLimit,
    pending_join_request_count: invite.pendingRequests,
    subscription_period: invite.subscription?.seconds,
    subscription_price: invite.subscription?.stars,
  }),
})

const flags = (all: readonly string[], given: readonly string[]) =>
  Object.fromEntries(all.map((name) => [`can_${name}`, given.includes(name)]))

/** Optional members are left out, never null. */
export function present(shape: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  // On the path of every update: twice as fast as by way of entries.
  for (const name in shape) if (shape[name] !== undefined) shown[name] = shape[name]
  return shown
}

/** TypeScript's libraries do not know it yet. */
declare global {
  interface JSON {
    rawJSON(text: string): object
  }
}

/**
 * The reference writes six digits behind the point of whatever may have some: bots in languages whose numbers are
 * of two types take `35` for a whole number, and refuse it as a latitude. JSON has no number for what a network tells of
 * no place.
 */
export const float = (value: number): object =>
  JSON.rawJSON((Number.isFinite(value) ? value : 0).toFixed(6))

const OF_ALL = PERMISSIONS.filter((name) => name !== 'manage_topics')

/** Whether a small group leaves everything to its members, as it does at first. */
const isRunByAll = ({ permissions }: Chat): boolean =>
  permissions === undefined || OF_ALL.every((name) => permissions.includes(name))

export const chatJson = (chat: Chat, ids: Names) =>
  present({
    id: ids.chat(chat.native),
    title: chat.title,
    username: chat.username,
    first_name: chat.surface === 'private' ? (chat.firstName ?? '') : undefined,
    last_name: chat.lastName,
    type: chat.surface,
    is_forum: chat.isForum || undefined,
    is_direct_messages: chat.isDirect || (chat.directWith && true),
    all_members_are_administrators: chat.surface === 'group' ? isRunByAll(chat) : undefined,
  })

export const userJson = (person: Person, ids: Names) =>
  present({
    id: ids.chat(person.native),
    // A client knows the account as the bot that getMe shows.
    is_bot: person.isBot ?? person.native === ids.self,
    first_name: person.firstName,
    last_name: person.lastName,
    username: person.username,
    language_code: person.languageCode,
    is_premium: person.isPremium,
  })

/** The kind of chat that the form of its id shows, for events that do not name it. */
export function surfaceOfId(chatId: number): Surface {
  if (chatId > 0) return 'private'
  return chatId > -1_000_000_000_000 ? 'group' : 'supergroup'
}

type ServiceOf<Fact extends Service['fact']> = Extract<Service, { fact: Fact }>

/** With the older names that libraries still read. */
export function memberFactJson(fact: ServiceOf<'joined' | 'left'>, ids: Names): object {
  if (fact.fact === 'left') {
    const member = userJson(fact.person, ids)
    return { left_chat_member: member, left_chat_participant: member }
  }
  const members = fact.people.map((person) => userJson(person, ids))
  const [first] = members
  return { new_chat_members: members, new_chat_member: first, new_chat_participant: first }
}

type CommunityFact = ServiceOf<'community_added' | 'community_joined' | 'community_removed'>

export function communityFactJson(fact: CommunityFact): object {
  if (fact.fact === 'community_removed') return { community_chat_removed: {} }
  const { community } = fact
  return fact.fact === 'community_added'
    ? { community_chat_added: { community } }
    : { community_chat_joined: { community } }
}

/** One shared person is told by the older name, too. */
export function usersSharedJson(
  { request: request_id, people }: ServiceOf<'users_shared'>,
  ids: Names,
): object {
  const users = people.map(({ native, firstName, lastName, username }) =>
    present({
      user_id: ids.chat(native),
      first_name: firstName,
      last_name: lastName,
      username,
    }),
  )
  const user_ids = people.map(({ native }) => ids.chat(native))
  const [user_id, ...others] = user_ids
  return {
    ...(others.length === 0 && { user_shared: { user_id, request_id } }),
    users_shared: { request_id, user_ids, users },
  }
}

export function chatSharedJson({ request, chat }: ServiceOf<'chat_shared'>, ids: Names): object {
  const { native, title, username } = chat
  const shared = present({ chat_id: ids.chat(native), title, username })
  return { chat_shared: { request_id: request, ...shared } }
}
