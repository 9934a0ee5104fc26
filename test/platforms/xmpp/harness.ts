/** XMPP as the contract suite drives it. */
import { randomUUID } from 'node:crypto'
import type { SlixmppClient } from '../../support/slixmpp.ts'
import type { Account, ContractHarness, Peer } from '../contract/harness.ts'
import { run, Store } from '../contract/recorder.ts'
import { lineFaults } from '../kit/line.ts'
import type { Network, XmppAccount } from './network.ts'
import { peerOf } from './peer.ts'
import { unable } from './under-test.ts'

export function xmppHarness(network: Network): ContractHarness {
  // The contract wants a cut to be seen; that short ones are resumed has tests of its own.
  const options = { resumeMilliseconds: 0, confirmMilliseconds: 1_000 }
  const { skip: noRevocation } = unable('end streams with the password')
  const accounts = new Map<string, XmppAccount>()
  const friends = new Map<string, SlixmppClient>()
  return {
    platform: network.platform(options),
    restarted: () => network.platform(options),
    lasting: () => network.platform({ confirmMilliseconds: 1_000 }),
    grades: {
      restricted: [],
      administrator: ['manage_chat', 'restrict_members', 'invite_users'],
    },
    unknownChat: 'nobody-here@xmpp.test',
    absent: {
      ...(noRevocation && { revoke: noRevocation }),
      code: 'XMPP links by password, in one step',
      expiry: 'XMPP links by password, in one step',
      secondFactor: 'XMPP links by password, in one step',
      signOut: 'a password cannot be signed out',
      limit: 'XMPP servers do not announce restrictions',
      repeat: 'a stream is in order and without repetition; repeats come from the archive',
      forbiddenChat: 'servers hide from a sender that he is blocked',
    },
    async account() {
      const account = await network.account()
      accounts.set(account.jid, account)
      return contractAccount(network, account)
    },
    async peer({ native }): Promise<Peer> {
      const friend = await network.friend()
      const peer = peerOf(friend, native, network.files)
      friends.set(peer.chat, friend)
      return peer
    },
    file: (kind, bytes) => network.files.add(kind, bytes),
    async group(account, { chat }) {
      const room = `room-${randomUUID()}@rooms.xmpp.test`
      const phone = await network.device(accounts.get(account.native)!)
      await phone.join(room, 'phone')
      await friends.get(chat)!.join(room, 'friend')
      return room
    },
    async restartNetwork() {
      await network.server.kill()
      await network.server.up()
    },
  }
}

function contractAccount(network: Network, account: XmppAccount): Account {
  const { relay, user, fields } = account
  return {
    native: account.jid,
    method: 'password',
    fields,
    wrongFields: { ...fields, password: `not ${account.password}` },
    async writeElsewhere(peer, text) {
      const phone = await network.device(account)
      phone.send(peer.chat, text)
    },
    ...lineFaults(relay),
    revoke: () => network.server.setPassword(user, 'changed'),
    ban: () => network.server.delete(user),
    async replace(secrets) {
      const identity = { native: account.jid, firstName: account.user }
      const store = new Store({ identity, secrets })
      const other = run(network.platform(), store)
      network.atEnd(() => other.stop())
      await other.reported('opened')
    },
    loseAnswer: async () => relay.holdAnswers(3_000),
  }
}
