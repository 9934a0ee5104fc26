/** Every method of the reference on the sandbox: what it answers with, or that it is refused in plain words. */
import t from 'tap'
import { METHOD_NAMES } from '../../src/bot-api/reference.ts'
import { methodRows } from './method-rows.ts'
import { methodStage } from './method-stage.ts'
import { refused } from './scene.ts'

/** What a messenger can do (tiers A and B of the reference), and what the gateway answers itself (C). */
const TIERS = { A: 37, B: 42, C: 14 }

const stage = await methodStage(t)
const { client, ada, key, credentialId, chat_id, done } = stage
const rows = methodRows(stage)

t.test('what the sandbox does comes back in its shape', async (t) => {
  for (const [name, [shape, given = {}]] of Object.entries(rows)) {
    await t.test(name, async (t) => {
      t.match(await done(name, typeof given === 'function' ? await given() : given), shape)
    })
  }
})

t.test('everything else is refused as what it is', async (t) => {
  t.equal(METHOD_NAMES.length, 190, '185 of version 10.3 and what is known of 10.4')
  t.equal(Object.keys(rows).length, TIERS.A + TIERS.B + TIERS.C, 'all that a messenger can do')
  const others = METHOD_NAMES.filter((name) => !(name in rows))
  for (const name of others) {
    const answer = await client.bot(key, name, { chat_id, user_id: ada.id, message_id: 1 })
    t.match(
      answer,
      {
        status: 400,
        body: {
          ok: false,
          error_code: 400,
          description: new RegExp(
            `^Bad Request: method ${name} not found on Sandbox: the network has `,
          ),
        },
      },
      name,
    )
  }
})

t.test('a call without any parameter never ends in a defect', async (t) => {
  const { key: fresh } = await client.key(credentialId)
  for (const name of METHOD_NAMES) {
    const { status, body } = await client.bot(fresh, name, {})
    t.ok(status === 200 || status === 400, `${name}: ${status}`)
    t.equal(body.ok, status === 200)
  }
})

t.test('what was called otherwise before still answers', async (t) => {
  t.match(
    await client.bot(key, 'getChatMembersCount', {}),
    refused(400, 'Bad Request: chat_id is empty'),
  )
  t.match(
    await client.bot(key, 'kickChatMember', {}),
    refused(400, 'Bad Request: chat_id is empty'),
  )
})
