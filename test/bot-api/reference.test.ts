/** Our table of the reference against the declarations that others derive from its documentation. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { methods } from '../../src/bot-api/methods/index.ts'
import { describeBotApi } from '../../src/bot-api/openapi.ts'
import { METHOD_NAMES, METHODS_BEYOND, methodName, reference } from '../../src/bot-api/reference.ts'
import { declarationsAsked } from '../reference/declarations.ts'
import { difference } from '../reference/difference.ts'
import { RESULT_SCHEMAS_FILE, resultSchemasText } from '../reference/result-schemas.ts'
import { storedShapes } from '../reference/shapes.ts'
import { TABLE_FILE, tableText } from '../reference/table.ts'

const declared = declarationsAsked()
const { paths, schemas } = describeBotApi()

t.test('the table is what the installed declarations say', async (t) => {
  t.equal(readFileSync(TABLE_FILE, 'utf8'), tableText(declared))
  t.strictSame(difference(reference, declared.methods), [])
  t.equal(declared.methods.size, 185)
  const parameters = [...declared.methods.values()].flat()
  t.equal(parameters.length, 932)
  t.equal(parameters.filter(({ required }) => required).length, 313)
  t.strictSame(reference.get('sendChatAction'), [
    { name: 'business_connection_id', type: 'string', required: false },
    { name: 'chat_id', type: 'chat', required: true },
    { name: 'message_thread_id', type: 'number', required: false },
    { name: 'action', type: 'string', required: true },
  ])
  t.strictSame(reference.get('getMe'), [])
})

t.test('each method that is served is one of the reference, or one of ours', async (t) => {
  const known = [...METHOD_NAMES, ...METHODS_BEYOND]
  for (const [key, { name }] of methods) {
    t.ok(known.includes(name), name)
    t.equal(methodName(key), name)
  }
})

t.test('parameters are read as what the reference says that they are', async (t) => {
  // What is a number there is an integer or a number here; a chat may be given by its number alone.
  const fits: Readonly<Record<string, readonly string[]>> = {
    number: ['integer', 'number', 'chat'],
    chat: ['chat'],
    string: ['string'],
    boolean: ['boolean'],
    file: ['file'],
    json: ['json'],
  }
  for (const { name, parameters } of methods.values()) {
    for (const { name: parameter, type } of reference.get(name) ?? []) {
      const read = parameters[parameter]
      if (read) t.ok(fits[type]?.includes(read), `${name}.${parameter}: ${read} for ${type}`)
    }
  }
})

t.test('the document leads to the reference, where it has the method', async (t) => {
  const url = (name: string) => {
    const { post } = paths[`/bot{api_key}/${name}`] as { post: { externalDocs?: { url: string } } }
    return post.externalDocs?.url
  }
  t.equal(url('sendMessage'), 'https://core.telegram.org/bots/api#sendmessage')
  t.equal(url('getChats'), undefined)
})

t.test('the document asks for a body where there is something to say in it', async (t) => {
  const takesBody = (name: string) => {
    return 'requestBody' in paths[`/bot{api_key}/${name}`]!.post
  }
  t.strictSame(['getMe', 'getUpdates', 'sendMessage'].map(takesBody), [false, true, true])
})

/** What the schemas of something refer to, and so on. */
function reached(from: unknown, found: Set<string>): Set<string> {
  for (const [, name = ''] of JSON.stringify(from).matchAll(/#\/components\/schemas\/(\w+)/g)) {
    if (found.has(name)) continue
    found.add(name)
    reached(schemas[name] ?? {}, found)
  }
  return found
}

t.test('the schemas of the results are what the shapes say', async (t) => {
  const stored = readFileSync(RESULT_SCHEMAS_FILE, 'utf8')
  t.equal(stored, resultSchemasText(storedShapes()))
})

t.test('each method describes its result, and what that refers to is there', async (t) => {
  for (const [path, { post }] of Object.entries(paths)) {
    const { responses } = post as { responses: { 200: { content: Record<string, object> } } }
    const { schema } = responses[200].content['application/json'] as {
      schema: { properties: { result: object } }
    }
    t.ok(Object.keys(schema.properties.result).length > 0, path)
  }
  const named = Object.keys(schemas)
  const others = [...reached([paths, schemas.BotUpdate], new Set(['BotUpdate']))]
  t.strictSame(
    others.filter((name) => !named.includes(name)),
    ['Failed'],
    'which the management API names',
  )
  t.strictSame(
    named.filter((name) => !others.includes(name)),
    [],
    'and nothing else',
  )
})

t.test('what a network passes on may have more in it, and other words', async (t) => {
  const { BotMessage, BotChatMember, BotRichBlock } = schemas as Record<
    string,
    { properties: Record<string, object>; required: string[] }
  >
  t.match(BotMessage?.properties, {
    message_id: { type: 'integer', format: 'int64' },
    chat: { $ref: '#/components/schemas/BotChat' },
    entities: { type: 'array', items: { $ref: '#/components/schemas/BotMessageEntity' } },
  })
  t.strictSame(BotMessage?.required, ['message_id', 'date', 'chat'])
  t.strictSame(BotChatMember?.required, ['status', 'user'], 'what all kinds of members have')
  t.strictSame(BotChatMember?.properties.status, {
    type: 'string',
    description: 'creator, administrator, member, restricted, left, kicked, or a newer one',
  })
  t.strictSame(BotRichBlock?.properties.caption, { $ref: '#/components/schemas/BotRichText' })
  t.strictSame(schemas.BotRichText, {
    description: 'A text, a list of rich texts, or an object with a `type`',
  })
  const text = JSON.stringify(schemas)
  t.notMatch(text, /"additionalProperties":false/)
  const { BotLocation } = schemas as Record<string, { properties: object }>
  t.match(BotLocation?.properties, {
    latitude: { type: 'number', format: 'double' },
    heading: { type: 'integer' },
  })
})
