/** Who belongs to a room is told as the room tells it, and a room that was left stays left. */
import t from 'tap'
import { perform, refusalOf, sent } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'
import { serverUnderTest } from './xmpp/under-test.ts'

t.test('people of XMPP rooms', { skip: serverUnderTest().skip }, async (t) => {
  const network = await Network.start(t)
  const { account, friend, chat: person, store, first, open } = await scene(t, network)
  const chat = `${account.user}@rooms.xmpp.test`
  await friend.join(chat, 'friend')
  await sent(first, chat, 'hello')
  const member = async (native: string) => {
    const found = await perform(first, { kind: 'member', chat, person: native })
    return found.kind === 'member' && found.member
  }

  await t.test('each has a standing', async (t) => {
    t.match(await member(person), { status: 'creator', person: { firstName: 'friend' } })
    t.match(await member(account.jid), { status: 'member', person: { native: account.jid } })
    t.match(await member('nobody@xmpp.test'), { status: 'left' })
    const phone = await network.device(account)
    await phone.join(chat, 'phone')
    t.match(await perform(first, { kind: 'count_members', chat }), { number: 2 })
    const standing = (jid: string, affiliation: string) =>
      `<query xmlns="http://jabber.org/protocol/muc#admin">
         <item affiliation="${affiliation}" jid="${jid}"/></query>`
    await friend.ask(chat, standing('banned@xmpp.test', 'outcast'))
    await friend.ask(chat, standing(account.jid, 'admin'))
    await phone.until(({ affiliation }) => affiliation === 'admin')
    const people = await perform(first, { kind: 'administrators', chat })
    t.match(people, {
      members: [
        { status: 'creator', person: { native: person } },
        { status: 'administrator', person: { native: account.jid } },
      ],
    })
    t.match(await member('banned@xmpp.test'), { status: 'kicked' })
  })

  await t.test('who may not name a room is told so', async (t) => {
    const failure = await refusalOf(perform(first, { kind: 'set_title', chat, title: 'mine' }))
    t.match(failure, { code: 'bad_request', description: 'not enough rights to change chat title' })
  })

  await t.test('people are no rooms', async (t) => {
    const failure = await refusalOf(perform(first, { kind: 'administrators', chat: person }))
    t.match(failure, { code: 'bad_request', description: 'chat not found' })
  })

  await t.test('a room that was left is not joined again', async (t) => {
    await perform(first, { kind: 'leave', chat })
    await first.stop()
    await open()
    friend.send(chat, 'among ourselves')
    await friend.sees(({ body }) => body === 'among ourselves')
    friend.send(account.jid, 'between us')
    await store.message('between us')
    t.notOk(store.texts().includes('among ourselves'))
  })
})
