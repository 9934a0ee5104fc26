/** Every method of the reference on the sandbox: what it answers with, or that it is refused in plain words. */
import { Ajv } from 'ajv'
import t from 'tap'
import { canDo } from '../../src/bot-api/method.ts'
import { methods } from '../../src/bot-api/methods/index.ts'
import { METHOD_NAMES, reference } from '../../src/bot-api/reference.ts'
import { capabilities } from '../../src/platforms/sandbox/platform.ts'
import { probeMethods, rowsOf } from '../probe/methods.ts'
import { watchReads } from '../probe/reads.ts'
import { WEIGHTY } from '../reference/weighty.ts'
import { methodStage } from './method-stage.ts'
import { refused } from './scene.ts'

const stage = await methodStage(t)
const { client, ada, key, credentialId, chat_id } = stage
const rows = rowsOf(stage)
const reads = watchReads(stage)
const probed = await probeMethods(reads.stage)

t.test('what the sandbox does comes back in its shape', async (t) => {
  for (const { method, isExpected, refusal, result } of probed) {
    if (!isExpected) continue
    t.equal(refusal, undefined, method)
    t.match(result, rows[method]?.[0], method)
  }
})

t.test('/openapi.json describes what comes back', async (t) => {
  const document = (await (await fetch(`${client.url}/openapi.json`)).json()) as object
  const ajv = new Ajv({ strict: false, formats: { int64: true, double: true } })
  ajv.addSchema({ $id: 'document', ...document })
  for (const { method, refusal, result } of probed) {
    if (refusal !== undefined) continue
    const response = `#/paths/~1bot{api_key}~1${method}/post/responses/200`
    const schema = encodeURI(`document${response}/content/application~1json/schema`)
    const isDescribed = ajv.validate({ $ref: schema }, { ok: true, result })
    t.ok(isDescribed, `${method}: ${ajv.errorsText()}`)
    t.notOk(ajv.validate({ $ref: schema }, { ok: true, result: null }), `${method} has a type`)
  }
})

t.test('a parameter that says who, where or when is read by each method that has it', async (t) => {
  for (const { method } of probed.filter(({ isExpected }) => isExpected)) {
    const { parameters } = methods.get(method.toLowerCase())!
    const weighty = Object.keys(parameters).filter((name) => WEIGHTY.test(name))
    const unread = weighty.filter((name) => !reads.byMethod.get(method)?.has(name))
    t.strictSame(
      unread.filter((name) => !READ_SOMETIMES.includes(name)),
      [],
      method,
    )
  }
})

/** Only in place of a chat, and only for a webhook that is set. */
const READ_SOMETIMES = ['inline_message_id', 'allowed_updates']

t.test('everything else is refused as what it is', async (t) => {
  t.equal(METHOD_NAMES.length, 190, '185 of version 10.3 and what is known of 10.4')
  const served = [...methods.values()].filter((method) => canDo({ capabilities }, method))
  const names = served.map(({ name }) => name).filter((name) => reference.has(name))
  t.same(Object.keys(rows).sort(), names.sort(), 'each method that is served has its row')
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
