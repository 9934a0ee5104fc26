/** What those in charge of a room do with its people, as these people feel it. */
import t from 'tap'
import type { Operation } from '../../machines/model/operation.ts'
import { PERMISSIONS } from '../../machines/model/rights.ts'
import { perform, refusalOf, sent } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'
import { serverUnderTest, unable } from './xmpp/under-test.ts'

t.test('moderation of XMPP rooms', { skip: serverUnderTest().skip }, async (t) => {
  const network = await Network.start(t)
  const { account, friend, chat: person, store, first } = await scene(t, network)
  const chat = `${account.user}@rooms.xmpp.test`
  const phone = await network.device(account)
  await phone.join(chat, 'phone')
  await friend.join(chat, 'friend')
  await sent(first, chat, 'hello')
  const done = { kind: 'done' }
  const does = (operation: Operation) => perform(first, operation)
  const refused = (operation: Operation) => refusalOf(does(operation))
  const member = async (native = person) => {
    const found = await does({ kind: 'member', chat, person: native })
    return found.kind === 'member' && found.member
  }
  const restrict = (permissions: readonly (typeof PERMISSIONS)[number][]) =>
    ({ kind: 'restrict', chat, person, permissions }) as const

  await t.test('whoever is restricted is not heard until they are free again', async (t) => {
    t.match(await does(restrict([])), done)
    t.match(await member(), { status: 'restricted', permissions: { length: 0 } })
    const id = friend.send(chat, 'unheard')
    await friend.sees((seen) => seen.id === id && seen.type === 'error')
    t.match(await does(restrict(PERMISSIONS)), done)
    t.match(await member(), { status: 'member' })
    friend.send(chat, 'heard')
    await store.message('heard')
    t.notOk(store.texts().includes('unheard'))
  })

  await t.test('whoever is put out may come back, whoever is banned may not', async (t) => {
    const isOut = (count: number) =>
      friend.until(() => friend.lines.filter(({ left }) => left).length === count)
    t.match(await does({ kind: 'unban', chat, person, onlyIfBanned: true }), done)
    t.match(await member(), { status: 'member' }, 'nobody was banned')
    t.match(await does({ kind: 'unban', chat, person, onlyIfBanned: false }), done)
    await isOut(1)
    t.match(await member(), { status: 'left' })
    await friend.join(chat, 'friend-again')
    t.match(await does({ kind: 'ban', chat, person }), done)
    await isOut(2)
    t.match(await member(), { status: 'kicked' })
    friend.enter(chat, 'friend-once-more')
    // ejabberd 23.01 lets in whom it shows as an outcast: the account puts them out again.
    const isRefused = () => friend.lines.some((line) => line.refused === 'forbidden')
    const isPutOut = () => friend.lines.filter(({ left }) => left).length === 3
    await friend.until(() => isRefused() || isPutOut())
    t.match(await does({ kind: 'unban', chat, person, onlyIfBanned: true }), done)
    await friend.join(chat, 'friend-at-last')
    if (unable('let the unbanned speak').skip) t.match(await does(restrict(PERMISSIONS)), done)
    friend.send(chat, 'back again')
    await store.message('back again')
    t.match(await member(), { status: 'member' })
  })

  await t.test('an administrator puts others out, and nobody puts out the owner', async (t) => {
    const promote = { kind: 'promote', chat, person, rights: ['restrict_members'] } as const
    t.match(await does(promote), done)
    await friend.until(({ affiliation }) => affiliation === 'admin')
    t.match(await member(), { rights: ['manage_chat', 'restrict_members', 'invite_users'] })
    t.match(await refused({ kind: 'ban', chat, person }), {
      description: 'user is an administrator of the chat',
    })
    t.match(await does({ ...promote, rights: [] }), done)
    await friend.until(({ affiliation }) => affiliation === 'member')
    t.match(await refused({ kind: 'ban', chat, person: account.jid }), {
      description: "can't restrict self",
    })
  })

  await t.test('what a room cannot do is refused in so many words', async (t) => {
    const until = Math.floor(Date.now() / 1000) + 3_600
    const operations: Readonly<Record<string, Operation>> = {
      'a ban for a time': { kind: 'ban', chat, person, until },
      'deleting the messages of others': { kind: 'ban', chat, person, deletesMessages: true },
      'letting a member send some things only': restrict(['send_messages']),
      'a restriction for a time': { ...restrict([]), until },
      'the right to pin_messages': { kind: 'promote', chat, person, rights: ['pin_messages'] },
      'an anonymous administrator': {
        ...{ kind: 'promote', chat, person, rights: [] },
        isAnonymous: true,
      },
    }
    for (const [what, operation] of Object.entries(operations)) {
      const failure = await refused(operation)
      t.strictSame(failure, {
        code: 'bad_request',
        description: `${what} is not supported on XMPP`,
      })
    }
    t.match(await member(), { status: 'member' }, 'nothing was done')
    const nobody = { ...restrict([]), person: 'nobody@xmpp.test' }
    t.match(await refused(nobody), { description: 'USER_NOT_PARTICIPANT' })
  })

  await t.test('whoever has no right to it is told so', async (t) => {
    const theirs = `theirs-${account.user}@rooms.xmpp.test`
    await friend.join(theirs, 'friend')
    const guest = await network.friend()
    await guest.join(theirs, 'guest')
    await sent(first, theirs, 'may I?')
    const someone = guest.jid.replace(/\/.*/, '')
    const ban = { kind: 'ban', chat: theirs, person: someone } as const
    const description = 'not enough rights to restrict/unrestrict chat member'
    t.match(await refused(ban), { code: 'bad_request', description })
    t.match(await refused({ ...ban, person }), { description: "can't remove chat owner" })
    const promote = { ...ban, kind: 'promote', rights: ['manage_chat'] } as const
    t.match(await refused(promote), {
      description: 'not enough rights to promote/demote chat member',
    })
  })
})
