/** Each user has a sandbox network of their own: what is in another one is answered like what is nowhere. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import type { Client } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { joinService } from '../support/shared-service.ts'
import { linkedAccount, raw } from './scene.ts'

/** The smallest PNG. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const NOBODY = 987_654_321
const NOWHERE = -1_000_987_654_321

const service = await joinService(t)
const ours = await linkedAccount(service, 'ours')
const theirs = await linkedAccount(service, 'theirs')
const { client } = ours
const path = (person: { id: number }) => `/sandbox/people/${person.id}`

/** A network with one of everything. */
const secret = await theirs.client.result('POST', `${path(theirs.ada)}/messages`, {
  to: theirs.bot.id,
  media: { type: 'photo', data: PIXEL, file_name: 'secret.png' },
})
const sendable = await theirs.client.result('POST', `${path(theirs.ada)}/messages`, {
  to: theirs.bot.id,
  text: 'a secret',
})
const group = await theirs.client.result('POST', '/sandbox/chats', {
  kind: 'supergroup',
  title: 'Theirs',
  username: 'their_group',
  owner: theirs.bot.id,
  members: [theirs.ada.id],
  is_forum: true,
})
const invited = await theirs.client.bot(theirs.key, 'createChatInviteLink', { chat_id: group.id })
await theirs.client.result('POST', '/sandbox/sticker_sets', {
  name: 'Their_cats',
  title: 'Cats',
  stickers: [{ emoji: '😺', data: PIXEL }],
})
const own = await client.result('POST', '/sandbox/chats', {
  kind: 'supergroup',
  title: 'Ours',
  owner: ours.bot.id,
  is_forum: true,
})

const person = `${theirs.ada.id}`
const chat = `${group.id}`
const file = secret.media.file as string

/** In the place of each name something of the other user, then something that nobody has. */
const foreign: Record<string, readonly [theirs: string, missing: string]> = {
  person: [person, `${NOBODY}`],
  blocked: [person, `${NOBODY}`],
  chat: [chat, `${NOWHERE}`],
  message: [`${sendable.message_id}`, '77'],
  topic: ['2', '78'],
  file: [file, file.replace(/.$/, (end) => (end === 'a' ? 'b' : 'a'))],
  name: ['Their_cats', 'No_ones_cats'],
}
const bodies: Record<string, object> = {
  'PATCH /sandbox/people/{person}': { first_name: 'Taken' },
  'POST /sandbox/people/{person}/messages': { to: ours.bot.id, text: 'as you' },
  'POST /sandbox/people/{person}/forwards': { to: ours.bot.id, from: ours.bot.id, message_id: 1 },
  'POST /sandbox/people/{person}/typing': { to: ours.bot.id },
  'POST /sandbox/people/{person}/follow': { invite_link: '@their_group' },
  'POST /sandbox/people/{person}/presses': { chat: 1, message_id: 1, callback_data: 'x' },
  'PUT /sandbox/people/{person}/chats/{chat}/messages/{message}/reactions': { reactions: [] },
  'PUT /sandbox/people/{person}/chats/{chat}/messages/{message}/vote': { option_ids: [] },
  'PATCH /sandbox/people/{person}/chats/{chat}/messages/{message}': { text: 'changed' },
  'POST /sandbox/people/{person}/chats/{chat}/join_requests/{asker}': { approve: true },
  'POST /sandbox/people/{person}/chats/{chat}/topics': { name: 'Mine' },
  'PATCH /sandbox/people/{person}/chats/{chat}/topics/{topic}': { name: 'Mine' },
}

const { paths } = (await raw(service.url, '/openapi.json')).body
const routes = Object.entries<Record<string, unknown>>(paths)
  .filter(([pattern]) => pattern.startsWith('/sandbox/') && pattern.includes('{'))
  .flatMap(([pattern, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), pattern })),
  )

/** The same call once with what is theirs and once with what is nowhere. */
async function alike(asking: Client, method: string, paths: [string, string], body?: unknown) {
  const [found, missing] = [
    await asking.ask(method, paths[0], body),
    await asking.ask(method, paths[1], body),
  ]
  return { found: [found.status, found.body], missing: [missing.status, missing.body] }
}

t.test('an id of another network is answered like one that does not exist', async (t) => {
  t.ok(routes.length > 25, `${routes.length} routes`)
  for (const { method, pattern } of routes) {
    const name = `${method} ${pattern}`
    const names = [...pattern.matchAll(/\{(\w+)\}/g)]
      .map(([, found]) => found!)
      .filter((found) => found in foreign)
    // All of the path is theirs, and then each part of it behind a person of ours.
    const places = [names, ...names.slice(1).map((_, at) => names.slice(at + 1))]
    for (const place of places) {
      const fill = (which: 0 | 1) =>
        pattern.replace(/\{(\w+)\}/g, (_, found) =>
          place.includes(found)
            ? foreign[found]![which]
            : found === 'fault'
              ? 'drop'
              : `${ours.ada.id}`,
        )
      const answers = await alike(client, method, [fill(0), fill(1)], bodies[name])
      t.strictSame(answers.found, answers.missing, `${name} with ${place}`)
      t.ok((answers.found[0] as number) >= 400, `${name} with ${place} is refused`)
    }
  }
})

t.test('what a body names of another network is not there either', async (t) => {
  const ada = path(ours.ada)
  const calls: [string, string, (its: (name: string) => number | string) => object][] = [
    ['POST', `${ada}/messages`, (its) => ({ to: Number(its('person')), text: 'hi' })],
    ['POST', `${ada}/messages`, (its) => ({ to: Number(its('chat')), text: 'hi' })],
    ['POST', `${ada}/messages`, (its) => ({ to: its('@'), text: 'hi' })],
    ['POST', `${ada}/messages`, (its) => ({ to: its('@person'), text: 'hi' })],
    [
      'POST',
      `${ada}/messages`,
      (its) => ({ to: ours.bot.id, media: { type: 'photo', file: its('file') } }),
    ],
    [
      'POST',
      `${ada}/forwards`,
      (its) => ({ to: ours.bot.id, from: Number(its('person')), message_id: 1 }),
    ],
    [
      'POST',
      `${ada}/forwards`,
      (its) => ({ to: ours.bot.id, from: Number(its('chat')), message_id: 2 }),
    ],
    ['POST', `${ada}/typing`, (its) => ({ to: Number(its('person')) })],
    ['POST', `${ada}/follow`, (its) => ({ invite_link: its('@') })],
    ['POST', `${ada}/follow`, (its) => ({ invite_link: its('link') })],
    [
      'POST',
      `${ada}/presses`,
      (its) => ({ chat: Number(its('person')), message_id: 1, callback_data: 'x' }),
    ],
    [
      'POST',
      '/sandbox/chats',
      (its) => ({ kind: 'group', title: 'Both', owner: Number(its('person')) }),
    ],
    [
      'POST',
      '/sandbox/chats',
      (its) => ({
        kind: 'group',
        title: 'Both',
        owner: ours.bot.id,
        members: [Number(its('person'))],
      }),
    ],
  ]
  const more: Record<string, readonly [string, string]> = {
    ...foreign,
    '@': ['@their_group', '@no_ones_group'],
    '@person': ['@theirs', '@no_one'],
    link: [invited.body.result.invite_link, 'https://sandbox.invalid/+nothing'],
  }
  for (const [method, where, body] of calls) {
    const [found, missing] = await Promise.all(
      ([0, 1] as const).map((which) =>
        client.ask(
          method,
          where,
          body((name) => more[name]![which]),
        ),
      ),
    )
    const what = `${where} ${JSON.stringify(body((name) => more[name]![0]))}`
    t.strictSame([found!.status, found!.body], [missing!.status, missing!.body], what)
    t.ok(found!.status >= 400, what)
  }
  for (const method of ['PUT', 'DELETE']) {
    const member = (id: string) => `/sandbox/chats/${own.id}/members/${id}?kick=true`
    const answers = await alike(client, method, [member(person), member(`${NOBODY}`)], {})
    t.strictSame(answers.found, answers.missing, `${method} of a member`)
  }
})

t.test('a bot finds nobody and nothing of another network', async (t) => {
  const calls: [string, (its: (name: string) => string) => object][] = [
    ['getChat', (its) => ({ chat_id: its('person') })],
    ['getChat', (its) => ({ chat_id: its('chat') })],
    ['getChat', () => ({ chat_id: '@their_group' })],
    ['getChat', () => ({ chat_id: '@theirs' })],
    ['sendMessage', (its) => ({ chat_id: its('person'), text: 'hi' })],
    ['sendMessage', (its) => ({ chat_id: its('chat'), text: 'hi' })],
    ['sendChatAction', (its) => ({ chat_id: its('person'), action: 'typing' })],
    ['getChatMember', (its) => ({ chat_id: its('chat'), user_id: ours.bot.id })],
    ['getChatMember', (its) => ({ chat_id: own.id, user_id: its('person') })],
    ['getChatMemberCount', (its) => ({ chat_id: its('chat') })],
    ['getChatAdministrators', (its) => ({ chat_id: its('chat') })],
    ['banChatMember', (its) => ({ chat_id: own.id, user_id: its('person') })],
    [
      'promoteChatMember',
      (its) => ({ chat_id: own.id, user_id: its('person'), can_pin_messages: true }),
    ],
    ['getUserProfilePhotos', (its) => ({ user_id: its('person') })],
    ['getUserProfileAudios', (its) => ({ user_id: its('person') })],
    ['getStickerSet', (its) => ({ name: its('name') })],
    ['leaveChat', (its) => ({ chat_id: its('chat') })],
    [
      'copyMessage',
      (its) => ({ chat_id: ours.ada.id, from_chat_id: its('person'), message_id: 1 }),
    ],
  ]
  for (const [method, body] of calls) {
    const ask = (which: 0 | 1) =>
      client.bot(
        ours.key,
        method,
        body((name) => foreign[name]![which]),
      )
    const [found, missing] = [await ask(0), await ask(1)]
    const what = `${method} ${JSON.stringify(body((name) => foreign[name]![0]))}`
    t.strictSame([found.status, found.body], [missing.status, missing.body], what)
    t.ok(found.status >= 400, what)
  }
})

t.test('nothing of theirs was changed, and none of ours went to them', async (t) => {
  const { first_name, faults } = await theirs.client.result('GET', path(theirs.ada))
  t.same({ first_name, faults }, { first_name: 'Ada', faults: {} })
  t.same(await theirs.client.result('GET', `${path(theirs.bot)}/faults`), {})
  t.equal((await theirs.client.state(theirs.credentialId, 'active')).state, 'active')
  const { members } = await theirs.client.result('GET', `/sandbox/chats/${chat}`)
  t.equal(members.length, 2)
  const { messages } = await theirs.client.result(
    'GET',
    `${path(theirs.ada)}/inbox?chat=${theirs.bot.id}`,
  )
  t.equal(messages.length, 2)
  const db = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  t.teardown(() => db.close())
  const strangers = await db.query(
    `select from sandbox_member m join sandbox_chat c on c.id = m.chat_id
     join sandbox_person p on p.id = m.person_id where p.user_id <> c.user_id`,
  )
  t.equal(strangers.length, 0)
})

t.test('lists show what is the user’s own, and the messenger itself to nobody', async (t) => {
  const idsOf = async (asking: Client, list: string) =>
    (await asking.result('GET', list)).items.map(({ id }: { id: number }) => id).sort()
  t.strictSame(await idsOf(client, '/sandbox/people'), [ours.bot.id, ours.ada.id].sort())
  t.strictSame(await idsOf(theirs.client, '/sandbox/people'), [theirs.bot.id, theirs.ada.id].sort())
  t.strictSame(await idsOf(client, '/sandbox/chats'), [own.id])
  t.match(await client.ask('GET', '/sandbox/people/777000'), { status: 404 })
  t.match(await client.ask('GET', '/sandbox/people/777000/inbox'), { status: 404 })
  t.match(await client.bot(ours.key, 'getChat', { chat_id: 777_000 }), {
    status: 200,
    body: { result: { first_name: 'Sandbox' } },
  })
})

t.test('another user’s person cannot be linked, nor their codes be read', async (t) => {
  const start = (phone: string) => client.ask('POST', '/platforms/sandbox/link/start', { phone })
  const [found, missing] = [await start(theirs.ada.phone), await start('+16505670000')]
  t.strictSame([found.status, found.body], [missing.status, missing.body])
  t.equal(found.status, 400)
  await theirs.client.result('POST', '/platforms/sandbox/link/start', { phone: theirs.ada.phone })
  t.ok(await theirs.client.code(theirs.ada.id))
  t.match(await client.ask('GET', `${path(theirs.ada)}/inbox`), {
    status: 404,
    body: { ok: false, error_code: 404, description: 'Not Found' },
  })
})

t.test(
  'two users have people with the same phone and name, each in their own network',
  async (t) => {
    const twins = await Promise.all(
      [client, theirs.client].map(async (asking) => ({
        asking,
        person: await asking.result('POST', '/sandbox/people', {
          phone: '+15550107777',
          first_name: 'Twin',
          username: 'the_twin',
        }),
      })),
    )
    const [one, two] = twins
    t.not(one!.person.id, two!.person.id)
    for (const { asking, person } of twins) {
      const credential = await asking.link(person)
      t.match(await asking.result('GET', `/platforms/credentials/${credential}`), {
        account: { id: person.id },
      })
    }
    await client.write(ours.ada.id, '@the_twin', 'to ours')
    const inbox = async (asking: Client, person: { id: number }) =>
      (await asking.result('GET', `${path(person)}/inbox`)).messages.map(
        ({ text }: { text: string }) => text,
      )
    t.ok((await inbox(one!.asking, one!.person)).includes('to ours'))
    t.notOk((await inbox(two!.asking, two!.person)).includes('to ours'))
    t.match(
      await client.ask('POST', '/sandbox/people', { first_name: 'X', username: 'The_Twin' }),
      {
        status: 409,
      },
    )
    for (const asking of [client, theirs.client]) {
      await asking.result('POST', '/sandbox/sticker_sets', {
        name: 'Same_cats',
        title: 'Cats',
        stickers: [{ emoji: '😺', data: PIXEL }],
      })
    }
  },
)
