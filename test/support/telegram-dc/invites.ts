/** Invite links of the test network's supergroups, and those who follow them. */
import { randomBytes } from 'node:crypto'
import type { tl } from '@mtcute/core'
import type { Channel } from './channel.ts'
import { type Handlers, type Origin, RpcRefusal } from './data-centre.ts'
import { now } from './delivery.ts'
import { targetOf } from './lookup.ts'
import type { TelegramNetwork } from './network.ts'
import { type Person, userOf } from './people.ts'

export function inviteHandlers(network: TelegramNetwork): Handlers {
  const managed = (peer: tl.TypeInputPeer, origin: Origin): Channel => {
    const found = targetOf(network, origin, peer)
    if (!('kind' in found) || found.kind !== 'channel') throw new RpcRefusal(400, 'PEER_ID_INVALID')
    if (found.owner === network.asker(origin).id) return found
    throw new RpcRefusal(400, 'CHAT_ADMIN_REQUIRED')
  }

  return {
    'messages.exportChatInvite': (request, origin) => {
      const place = managed(request.peer, origin)
      const isPrimary = request.legacyRevokePermanent === true
      if (isPrimary) revoke(place, ({ permanent }) => permanent === true)
      return make(place, { ...termsOf(request), ...(isPrimary && { permanent: true }) })
    },
    'messages.editExportedChatInvite': ({ peer, link, revoked, ...terms }, origin) => {
      const place = managed(peer, origin)
      const before = place.invites.get(link)
      if (!before) throw new RpcRefusal(400, 'INVITE_HASH_EXPIRED')
      const users = [userOf(network.asker(origin))]
      if (!revoked) {
        if (before.permanent) throw new RpcRefusal(400, 'CHAT_INVITE_PERMANENT')
        const invite = { ...kept(before), ...termsOf(terms) }
        place.invites.set(link, invite)
        return { _: 'messages.exportedChatInvite', invite, users }
      }
      revoke(place, (one) => one.link === link)
      const invite = place.invites.get(link)!
      if (!before.permanent) return { _: 'messages.exportedChatInvite', invite, users }
      const newInvite = make(place, { permanent: true })
      return { _: 'messages.exportedChatInviteReplaced', invite, newInvite, users }
    },
    'messages.getChatInviteImporters': ({ peer, requested, limit }, origin) => {
      const place = managed(peer, origin)
      const asked = requested ? [...place.joinRequests].reverse() : []
      const importers = asked.map(
        ([userId, { at: date }]): tl.RawChatInviteImporter => ({
          _: 'chatInviteImporter',
          requested: true,
          userId,
          date,
          about: network.people.get(userId)!.about,
        }),
      )
      const users = asked.map(([id]) => userOf(network.people.get(id)!))
      const listed = importers.slice(0, limit)
      return { _: 'messages.chatInviteImporters', count: asked.length, importers: listed, users }
    },
    'messages.hideChatJoinRequest': ({ peer, userId, approved }, origin) => {
      const place = managed(peer, origin)
      const id = userId._ === 'inputUser' ? userId.userId : 0
      if (place.members.has(id)) throw new RpcRefusal(400, 'USER_ALREADY_PARTICIPANT')
      if (!place.joinRequests.delete(id)) throw new RpcRefusal(400, 'HIDE_REQUESTER_MISSING')
      const asker = network.asker(origin)
      const since = place.events.length
      if (approved) {
        place.members.add(id)
        const action = { _: 'messageActionChatJoinedByRequest' } as const
        const person = network.people.get(id)!
        network.delivery.announce(person, place, action, { except: origin.connection })
      }
      const updates = place.events.slice(since).map(({ update }) => update)
      return network.delivery.answer(asker, updates)
    },
  }
}

/** Somebody follows a link: they are in, or they have asked to be. */
export function follow(network: TelegramNetwork, person: Person, link: string) {
  const place = [...network.places.values()].find(
    (one): one is Channel => one.kind === 'channel' && one.invites.has(link),
  )
  const invite = place?.invites.get(link)
  if (!place || !invite || invite.revoked) throw new Error('the link leads nowhere')
  if (!invite.requestNeeded) {
    place.members.add(person.id)
    const action = { _: 'messageActionChatJoinedByLink', inviterId: invite.adminId } as const
    return network.delivery.announce(person, place, action)
  }
  place.joinRequests.set(person.id, { link, at: now() })
  network.delivery.tell(network.people.get(place.owner)!, {
    _: 'updatePendingJoinRequests',
    peer: { _: 'peerChannel', channelId: place.id },
    requestsPending: place.joinRequests.size,
    recentRequesters: [...place.joinRequests.keys()].slice(-3),
  })
}

type Terms = Partial<tl.RawChatInviteExported>

function make(place: Channel, terms: Terms): tl.RawChatInviteExported {
  const link = `https://t.me/+${randomBytes(12).toString('base64url')}`
  const invite = { ...terms, _: 'chatInviteExported', link, adminId: place.owner, date: now() }
  place.invites.set(link, invite as tl.RawChatInviteExported)
  return invite as tl.RawChatInviteExported
}

function revoke(place: Channel, isMeant: (invite: tl.RawChatInviteExported) => boolean) {
  for (const [link, invite] of place.invites) {
    if (isMeant(invite)) place.invites.set(link, { ...invite, revoked: true })
  }
}

/** Of a link that is changed, what nobody can change. */
const kept = (invite: tl.RawChatInviteExported): tl.RawChatInviteExported => {
  const { _, link, adminId, date, subscriptionPricing } = invite
  return { _, link, adminId, date, ...(subscriptionPricing && { subscriptionPricing }) }
}

function termsOf(given: {
  readonly title?: string | undefined
  readonly expireDate?: number | undefined
  readonly usageLimit?: number | undefined
  readonly requestNeeded?: boolean | undefined
  readonly subscriptionPricing?: tl.TypeStarsSubscriptionPricing | undefined
}): Terms {
  const { title, expireDate, usageLimit, requestNeeded, subscriptionPricing } = given
  return {
    ...(title && { title }),
    ...(expireDate && { expireDate }),
    ...(usageLimit && { usageLimit }),
    ...(requestNeeded && { requestNeeded }),
    ...(subscriptionPricing && { subscriptionPricing }),
  }
}
