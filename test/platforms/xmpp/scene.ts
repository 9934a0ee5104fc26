/** What the XMPP tests begin with: a linked account, online, and a friend on another client. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Element } from '@xmpp/client'
import type { Test } from 'tap'
import { Requests } from '../../../src/platforms/xmpp/requests.ts'
import { SaltedKeys } from '../../../src/platforms/xmpp/sasl/scram.ts'
import { loginOf } from '../../../src/platforms/xmpp/secrets.ts'
import { Stream } from '../../../src/platforms/xmpp/stream.ts'
import { patience, run, Store } from '../contract/recorder.ts'
import { linked } from '../contract/scene.ts'
import type { Network, Tuning, XmppAccount } from './network.ts'

export async function scene(t: Test, network: Network, options: Tuning = {}) {
  const account = await network.account()
  const friend = await network.friend()
  const platform = network.platform(options)
  const contract = { native: account.jid, method: 'password', fields: account.fields }
  const store = new Store(await linked(platform, contract))
  const open = async () => {
    await delay(network.server.restMilliseconds ?? 0)
    const opened = run(platform, store)
    t.teardown(() => opened.stop())
    await opened.reported('opened')
    return opened
  }
  const first = await open()
  const chat = friend.jid.replace(/\/.*/, '')
  // A checkpoint that is not empty, as accounts in use have.
  friend.send(account.jid, 'the first words')
  await store.message('the first words')
  return { account, friend, chat, platform, store, first, open }
}

/** Another device of the account tells the archive to leave messages out: all, or those of strangers. Resolves once the server knows. */
export async function stopArchive(
  network: Network,
  { account, friend, chat }: Pick<Awaited<ReturnType<typeof scene>>, 'account' | 'friend' | 'chat'>,
  others: 'never' | 'roster' = 'never',
): Promise<void> {
  const phone = await network.device(account)
  await phone.ask(
    account.jid,
    `<prefs xmlns="urn:xmpp:mam:2" default="${others}"><always/><never/></prefs>`,
  )
  phone.send(chat, 'the archive is told')
  await friend.sees(({ body }) => body === 'the archive is told')
}

/** Another device of the account, to see what its server keeps for all of them. */
export async function deviceOf(t: Test, { jid, password, fields }: XmppAccount) {
  const secrets = { jid, password, resource: 'tablet', server: fields.server! }
  const login = loginOf(secrets, { allowPrivate: true, keys: new SaltedKeys() })
  const ignore = () => undefined
  const events = { bound: ignore, resumed: ignore, acknowledged: ignore, ended: ignore }
  const stanza = (stanza: Element) => requests.take(stanza)
  const stream = new Stream({ login, resumeMilliseconds: 0 }, { ...events, stanza })
  const requests: Requests = new Requests(jid, (stanza) => stream.send(stanza))
  t.teardown(() => stream.close())
  await stream.up(patience())
  return requests
}

export async function until(isSo: () => Promise<boolean>) {
  const signal = patience()
  while (!(await isSo())) await delay(50, undefined, { signal })
}
