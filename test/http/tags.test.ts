/** Tags of accounts: put on and taken off many at once, a filter of the list, of their user alone. */
import t from 'tap'
import { joinService } from '../support/shared-service.ts'

const service = await joinService(t)
const client = await service.client()
const stranger = await service.client()
const ada = await client.link(await client.person('Ada', 'ada_tagged'))
const bob = await client.link(await client.person('Bob', 'bob_tagged'))
const cyd = await client.link(await client.person('Cyd', 'cyd_tagged'))

const change = (body: object) => client.ask('POST', '/platforms/credentials/tags', body)
const tagsOf = async (id: number) =>
  (await client.result('GET', `/platforms/credentials/${id}`)).tags
const listed = async (query: string) => {
  const { items } = await client.result('GET', `/platforms/credentials?${query}`)
  return items.map((item: { credential_id: number }) => item.credential_id)
}

t.test('tags are put on and taken off', async (t) => {
  const { body } = await change({ credential_ids: [ada, bob], add: ['vip', 'فروش'] })
  t.same(body.result, { total: 2, changed: 2 })
  t.same(await tagsOf(ada), ['vip', 'فروش'])
  const again = await change({ credential_ids: [ada, bob, cyd], add: ['vip'] })
  t.same(again.body.result, { total: 3, changed: 1 }, 'only where something changes')
  await change({ filter: { search: 'bob' }, remove: ['vip'], add: ['late'] })
  t.same(await tagsOf(bob), ['late', 'فروش'])
  t.same(await tagsOf(cyd), ['vip'])
})

t.test('they are a filter of the list, of its counts and of what is done to many', async (t) => {
  t.same(await listed('tag=vip'), [cyd, ada])
  t.same(await listed('tag=late,vip&sort=name&order=asc'), [ada, bob, cyd])
  t.same(await listed('tag=vip&search=cyd'), [cyd])
  t.same(await listed('tag=none'), [])
  t.match(await client.result('GET', '/platforms/credentials/groups?tag=vip'), {
    matching: 2,
    by_tag: { vip: 2, late: 1, فروش: 2 },
  })
  const counts = { vip: 2, late: 1, فروش: 2 }
  t.same(await client.result('GET', '/platforms/credentials/tags'), counts)
  t.same(await stranger.result('GET', '/platforms/credentials/tags'), {})
  t.same((await stranger.result('GET', '/platforms/credentials/groups')).by_tag, {})
  const action = { kind: 'restart', filter: { tag: 'vip' } }
  const { total, filter } = await client.result('POST', '/platforms/credentials/actions', action)
  t.match({ total, filter }, { total: 2, filter: { tags: ['vip'] } })
})

t.test('what is no tag is refused, and nobody tags accounts of others', async (t) => {
  for (const body of [
    { credential_ids: [ada] },
    { credential_ids: [ada], add: ['two words'] },
    { credential_ids: [ada], add: ['x'.repeat(33)] },
    { add: ['x'] },
    { credential_ids: [ada], filter: {}, add: ['x'] },
  ]) {
    t.match(await change(body), { status: 400, body: { ok: false } })
  }
  t.match(await client.ask('GET', '/platforms/credentials?tag=a%20b'), { status: 400 })
  const theirs = { credential_ids: [ada], add: ['mine'] }
  t.same(await stranger.result('POST', '/platforms/credentials/tags', theirs), {
    total: 0,
    changed: 0,
  })
  const twenty = Array.from({ length: 20 }, (_, n) => `t${n}`)
  const { body } = await change({ credential_ids: [ada], add: twenty })
  t.same(body.result, { total: 1, changed: 0 }, 'more than twenty are too many')
  const many = await change({ credential_ids: [ada], add: [...twenty, 'more'] })
  t.match(many, { status: 400, body: { errors: [{ field: 'add' }] } })
})
