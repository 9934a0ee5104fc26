/** Groups of Telegram accounts, small ones and large ones: who is there, and as what. */
import t, { type Test } from 'tap'
import type { Operation } from '../../machines/model/operation.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { perform, refusalOf } from './contract/scene.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

t.test('an account of Telegram', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const inGroup = async (t: Test, isSmall: boolean) => {
    const scene = await live(t, stage)
    const { person, friend, store, open } = scene
    const group = isSmall
      ? network.group([person, friend])
      : network.channel(person, [friend], false)
    const session = await open()
    network.delivery.send(friend, group, { message: 'hello' })
    await store.message('hello')
    const does = (operation: Operation) => perform(session, operation)
    return { ...scene, group, does, chat: nativeOfPlace(group) }
  }

  await t.test('sees who is in a small group, and puts somebody out', async (t) => {
    const { person, friend, group, chat, does } = await inGroup(t, true)
    const [self, other] = [`${person.id}`, `${friend.id}`]
    const administrators = { kind: 'administrators', chat } as const
    const creator = { person: { native: self }, status: 'creator' }
    t.match(await does(administrators), { members: [creator] })
    const member = { kind: 'member', chat, person: other } as const
    t.match(await does(member), { member: { person: { native: other }, status: 'member' } })
    t.match(await does({ ...member, person: self }), { member: creator })

    if (group.kind === 'group') group.admins.add(friend.id)
    const administrator = { person: { native: other }, status: 'administrator' }
    t.match(await does(member), { member: administrator })
    t.match(await does(administrators), { members: [creator, administrator] })

    const ban = { kind: 'ban', chat } as const
    t.match(await refusalOf(does({ ...ban, person: self })), { code: 'bad_request' })
    t.match(await does({ ...ban, person: other }), { kind: 'done' })
    t.notOk(group.members.has(friend.id))
    const name = friend.firstName
    t.match(await does(member), { member: { person: { firstName: name }, status: 'left' } })
    const limits = { kind: 'restrict', chat, person: other, permissions: [] } as const
    t.match(await refusalOf(does(limits)), {
      description: /^method is available only for supergroups and channels$/,
    })
  })

  await t.test('says where a small group has gone that became a supergroup', async (t) => {
    const { person, friend, store, group, chat, does } = await inGroup(t, true)
    if (group.kind !== 'group') throw new Error('not a small group')
    const send = {
      kind: 'send',
      chat,
      content: { kind: 'text', text: 'hi', entities: [] },
    } as const
    t.match(await does(send), { message: { chat: { native: chat } } })
    const large = network.channel(friend, [person], false)
    group.movedTo = large
    const action = { _: 'messageActionChatMigrateTo', channelId: large.id } as const
    network.delivery.announce(friend, group, action)
    await store.until(() =>
      store.happenings.find((it) => it.kind === 'message' && it.message.content.kind === 'service'),
    )
    t.match(await refusalOf(does(send)), {
      code: 'bad_request',
      description: /^group chat was upgraded to a supergroup chat$/,
      migrateToChatId: Number(nativeOfPlace(large)),
    })
  })

  await t.test('does not take somebody unknown for a chat', async (t) => {
    for (const isSmall of [true, false]) {
      const { chat, does } = await inGroup(t, isSmall)
      const unknown = { code: 'bad_request', description: 'user not found' }
      const somebody = { chat, person: '987654' }
      t.match(await refusalOf(does({ kind: 'member', ...somebody })), unknown)
      t.match(await refusalOf(does({ kind: 'ban', ...somebody })), unknown)
      t.match(await refusalOf(does({ kind: 'member', chat: '-1000000000005', person: '987654' })), {
        description: 'chat not found',
      })
    }
  })

  await t.test('sees that somebody restricted has left', async (t) => {
    const { friend, group, chat, does } = await inGroup(t, false)
    const somebody = { chat, person: `${friend.id}` }
    await does({ kind: 'restrict', ...somebody, permissions: ['send_messages'] })
    const there = await does({ kind: 'member', ...somebody })
    t.match(there, { member: { status: 'restricted', permissions: ['send_messages'] } })
    t.notOk(there.kind === 'member' && there.member.isOutside)
    group.members.delete(friend.id)
    const gone = { status: 'restricted', permissions: ['send_messages'], isOutside: true }
    t.match(await does({ kind: 'member', ...somebody }), { member: gone })
  })

  await t.test('leaves an administrator their title when their rights change', async (t) => {
    const { friend, group, chat, does } = await inGroup(t, false)
    if (group.kind === 'channel') group.ranks.set(friend.id, 'Captain')
    const somebody = { chat, person: `${friend.id}` }
    await does({ kind: 'promote', ...somebody, rights: ['pin_messages'] })
    const rights = ['manage_chat', 'pin_messages']
    const title = { status: 'administrator', rights, title: 'Captain' }
    t.match(await does({ kind: 'member', ...somebody }), { member: title })
  })

  await t.test('sees that whoever wants to come in asks first', async (t) => {
    const { group, chat, does } = await inGroup(t, false)
    const open = await does({ kind: 'describe', chat })
    t.notOk(open.kind === 'chat' && open.chat.needsApproval)
    if (group.kind === 'channel') group.asksFirst = true
    t.match(await does({ kind: 'describe', chat }), { chat: { needsApproval: true } })
  })
})
