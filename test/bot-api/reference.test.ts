/** Our table of the reference against the declarations that others derive from its documentation. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { methods } from '../../src/bot-api/methods/index.ts'
import { botPaths } from '../../src/bot-api/openapi.ts'
import { METHOD_NAMES, METHODS_BEYOND, methodName, reference } from '../../src/bot-api/reference.ts'
import { declarationsAsked } from '../reference/declarations.ts'
import { difference } from '../reference/difference.ts'
import { TABLE_FILE, tableText } from '../reference/table.ts'

const declared = declarationsAsked()

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
    const { post } = botPaths()[`/bot{api_key}/${name}`] as {
      post: { externalDocs?: { url: string } }
    }
    return post.externalDocs?.url
  }
  t.equal(url('sendMessage'), 'https://core.telegram.org/bots/api#sendmessage')
  t.equal(url('getChats'), undefined)
})

t.test('the document asks for a body where there is something to say in it', async (t) => {
  const takesBody = (name: string) => {
    const { post } = botPaths()[`/bot{api_key}/${name}`] as { post: object }
    return 'requestBody' in post
  }
  t.strictSame(['getMe', 'getUpdates', 'sendMessage'].map(takesBody), [false, true, true])
})
