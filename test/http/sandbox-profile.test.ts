/** What people have, over HTTP: gifts, boosts, subscriptions, bots they made, and photos. */
import t from 'tap'
import { picture } from '../service/files.ts'
import { sandboxServer } from './sandbox-rig.ts'

t.test('a gift is kept, listed and converted by its owner', async (t) => {
  const { ask, result, person } = await sandboxServer(t)
  const [ada, bela] = [await person('Ada'), await person('Bela')]
  const sticker = { data: (await picture(200, 200)).toString('base64') }
  const { id: gift_id } = await result('POST /sandbox/gifts', { sticker, star_count: 100 })
  const own = `/sandbox/people/${bela.id}/gifts`
  t.same(await result(`GET ${own}`), [])
  await result(`POST /sandbox/people/${ada.id}/gifts`, { to: bela.id, gift_id, text: 'Hi' })
  const [gift] = await result(`GET ${own}`)
  t.match(gift, {
    gift: { id: gift_id, star_count: 100 },
    sender: { id: ada.id },
    text: 'Hi',
    convert_star_count: 85,
    is_saved: true,
  })
  t.same(await result(`GET /sandbox/people/${ada.id}/gifts`), [])
  const stolen = `POST /sandbox/people/${ada.id}/gifts/${gift.owned_gift_id}/convert`
  t.match(await ask(stolen), { status: 400 })
  await result(`POST ${own}/${gift.owned_gift_id}/convert`)
  t.same(await result(`GET ${own}`), [])
  t.equal((await result(`GET /sandbox/people/${bela.id}`)).star_balance, bela.star_balance + 85)
})

t.test('boosts of a person in a chat are listed', async (t) => {
  const { result, person } = await sandboxServer(t)
  const [ada, bela] = [await person('Ada'), await person('Bela')]
  const make = { kind: 'channel', title: 'News', username: 'the_news', owner: bela.id }
  const { id } = await result('POST /sandbox/chats', make)
  const path = `/sandbox/people/${ada.id}/chats/${id}/boosts`
  t.same(await result(`GET ${path}`), [])
  const boost = await result(`POST ${path}`, { seconds: 60 })
  t.same(await result(`GET ${path}`), [boost])
  t.same(await result(`GET /sandbox/people/${bela.id}/chats/${id}/boosts`), [])
})

t.test('a bot that a person made is shown with the token that links it', async (t) => {
  const { result, person } = await sandboxServer(t)
  const [ada, manager] = [await person('Ada'), await person('Manager')]
  const path = `/sandbox/people/${ada.id}/managed_bots`
  const bot = { manager: manager.id, first_name: 'Tea', username: 'tea_bot' }
  const made = await result(`POST ${path}`, bot)
  const [first, ...more] = await result(`GET ${path}`)
  t.same(more, [])
  t.match(first, { bot: { id: made.id }, manager: { id: manager.id } })
  t.match(first.token, new RegExp(`^${made.id}:`))
  await result(`POST ${path}/${made.id}/token`)
  t.not((await result(`GET ${path}`))[0].token, first.token)
  t.same(await result(`GET /sandbox/people/${manager.id}/managed_bots`), [])
})

t.test('photos of people and chats are shown with them', async (t) => {
  const { result, person } = await sandboxServer(t)
  const ada = await person('Ada')
  t.notOk('photo' in ada)
  const data = (await picture()).toString('base64')
  await result(`PUT /sandbox/people/${ada.id}/photo`, { data })
  t.match(await result(`GET /sandbox/people/${ada.id}`), { photo: { type: 'photo' } })
  t.match(await result('GET /sandbox/people'), { items: [{ photo: { type: 'photo' } }] })
  const group = await result('POST /sandbox/chats', { kind: 'group', title: 'G', owner: ada.id })
  await result(`PUT /sandbox/people/${ada.id}/chats/${group.id}/photo`, { data })
  t.match(await result(`GET /sandbox/chats/${group.id}`), { photo: { type: 'photo' } })
})

t.test('what is wrong is refused, and nobody is let in unasked', async (t) => {
  const { ask, person } = await sandboxServer(t)
  const ada = await person('Ada')
  const own = `/sandbox/people/${ada.id}`
  const refusals: [line: string, status: number][] = [
    [`POST ${own}/gifts/nothing/convert`, 400],
    [`GET ${own}/chats/-5/boosts`, 400],
    [`GET ${own}/invite`, 400],
    [`GET ${own}/invite?link=nothing`, 400],
    [`GET ${own}/invoice`, 400],
    [`GET ${own}/invoice?link=nothing`, 400],
    ['GET /sandbox/people/5/gifts', 404],
    ['GET /sandbox/people/5/subscriptions', 404],
    ['GET /sandbox/people/5/managed_bots', 404],
    ['GET /sandbox/people/5/invoice?link=x', 404],
    ['GET /sandbox/people/5/invite?link=x', 404],
  ]
  for (const [line, status] of refusals) t.match(await ask(line), { status }, line)
  const paths = [
    'gifts',
    'subscriptions',
    'managed_bots',
    'invoice?link=x',
    'invite?link=x',
    'chats/-5/boosts',
  ]
  for (const path of paths) t.match(await ask(`GET ${own}/${path}`, undefined, ''), { status: 401 })
})
