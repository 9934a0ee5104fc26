/** Every way a bot call can be written on the wire, and every way that is none. */
import t from 'tap'
import { METHOD_NAMES, METHODS_BEYOND } from '../../src/bot-api/reference.ts'
import { type RawRequest, raw, refused, scene } from './scene.ts'

const { service, client, ada, key } = await scene(t, {})
const { url } = service
const to = `${ada.id}`

const call = (path: string, options?: RawRequest) => raw(url, `/bot${key}/${path}`, options)
const post = (type: string, body: string, path = 'sendMessage') =>
  call(path, { method: 'POST', headers: { 'content-type': type }, body })
const json = (body: unknown, path?: string) =>
  post('application/json', typeof body === 'string' ? body : JSON.stringify(body), path)
const sent = (text: string) => ({ status: 200, body: { ok: true, result: { text } } })

/** One part per entry, written by hand so that nothing is tidied up on the way. */
function multipart(parts: readonly (readonly [disposition: string, value: string])[]) {
  const boundary = 'chapar-boundary'
  const body = parts.map(
    ([disposition, value]) =>
      `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n${value}\r\n`,
  )
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: `${body.join('')}--${boundary}--\r\n`,
  }
}

t.test('parameters come from the query, a form, JSON or both', async (t) => {
  t.match(await call(`sendMessage?chat_id=${to}&text=a+b%2Bc`), sent('a b+c'))
  t.match(await call(`sendMessage?chat_id=${to}&text=q`, { method: 'POST' }), sent('q'))
  const form = 'application/x-www-form-urlencoded'
  t.match(await post(form, `chat_id=${to}&text=a+%D8%B3`), sent('a س'))
  t.match(await post(`${form}; charset=utf-8`, `chat_id=${to}&text=form`), sent('form'))
  t.match(await json({ chat_id: ada.id, text: 'number' }), sent('number'))
  t.match(await json({ chat_id: to, text: 12 }), sent('12'), 'any value is taken as its text')
  const typed = await post(
    'Application/JSON; charset=utf-8',
    JSON.stringify({ chat_id: to, text: 'x' }),
  )
  t.match(typed, sent('x'))
  const inGet = { headers: { 'content-type': 'application/json' }, method: 'GET' }
  const body = JSON.stringify({ chat_id: to, text: 'get' })
  t.match(await call('sendMessage', { ...inGet, body }), sent('get'))
})

t.test('the query comes before the body, and the first of a name wins', async (t) => {
  const body = JSON.stringify({ chat_id: to, text: 'body' })
  t.match(await post('application/json', body, 'sendMessage?text=query'), sent('query'))
  t.match(await call(`sendMessage?chat_id=${to}&text=first&text=second`), sent('first'))
  const parts = multipart([
    ['name="chat_id"', to],
    ['name="text"', 'first'],
    ['name="text"', 'second'],
  ])
  t.match(await post(parts.type, parts.body), sent('first'))
  const twice = (text: string) => `{"chat_id":${to},${text}}`
  t.match(await json(twice('"text":"first","text":"second"')), sent('first'))
  t.match(await json(twice('"text":"first","text":{"text":"second"}')), sent('first'))
  t.match(await json(twice('"text":null,"text":"second"')), sent('second'), 'null is absent')
})

t.test('structured parameters are JSON or JSON in a string', async (t) => {
  const entities = [{ type: 'bold', offset: 0, length: 2 }]
  for (const given of [entities, JSON.stringify(entities)]) {
    const { body } = await json({ chat_id: to, text: 'hi there', entities: given })
    t.match(body.result, { entities })
  }
  const query = new URLSearchParams({
    chat_id: to,
    text: 'hi there',
    entities: JSON.stringify(entities),
  })
  t.match((await call(`sendMessage?${query}`)).body.result, { entities })
})

t.test('multipart carries fields, nested JSON and files, with or without a length', async (t) => {
  const keyboard = { inline_keyboard: [[{ text: 'A', callback_data: 'a' }]] }
  const { type, body } = multipart([
    ['name="chat_id"', to],
    ['name="text"', 'plus + stays'],
    ['name="reply_markup"', JSON.stringify(keyboard)],
    ['name="extra"; filename="a.bin"', 'x'.repeat(100_000)],
  ])
  const answer = await post(type, body)
  t.match(answer, sent('plus + stays'))
  t.match(answer.body.result.reply_markup, keyboard)

  const chunked = await call('sendMessage', {
    method: 'POST',
    headers: { 'content-type': type, 'transfer-encoding': 'chunked' },
    body,
  })
  t.match(chunked, sent('plus + stays'))

  const typed = multipart([
    ['name="chat_id"', to],
    ['name="text"', 'typed'],
    ['name="reply_markup"\r\ncontent-type: application/json', JSON.stringify(keyboard)],
    ['name="f"\r\ncontent-type: application/x-www-form-urlencoded', 'disable_notification=1'],
  ])
  t.match((await post(typed.type, typed.body)).body.result, {
    text: 'typed',
    reply_markup: keyboard,
  })

  const unreadable = "Bad Request: can't parse the request body: it is not valid multipart"
  t.match(await post('multipart/form-data', 'no boundary'), refused(400, unreadable))
  t.match(await post(type, body.slice(0, 150)), refused(400, unreadable))
  const proto = multipart([['name="__proto__"', 'x']])
  t.match(await post(proto.type, proto.body), refused(400, unreadable))
})

t.test('null and empty text are absent, forgiving forms are forgiven', async (t) => {
  t.match(await json({ chat_id: to, text: 'x', parse_mode: null, reply_markup: null }), sent('x'))
  t.match(await json({ chat_id: to, text: 'x', parse_mode: '' }), sent('x'))
  t.match(
    await json({ chat_id: to, text: null }),
    refused(400, 'Bad Request: message text is empty'),
  )
  t.match(await json({ text: 'x' }), refused(400, 'Bad Request: chat_id is empty'))
  t.match(await json(`\ufeff{"chat_id":${to},"text":"marked"}`), sent('marked'))
  const twice = `\ufeff\r\n{"chat_id":${to},"text":"first","text":"second"}`
  t.match(await json(twice), sent('first'))
  t.match(await json({ chat_id: to, text: 'x', unheard_of: { a: [1] } }), sent('x'))
  t.match(await json({ chat_id: `${to}tail`, text: 'leading digits' }), sent('leading digits'))
  t.match(await post('text/plain', 'anything', `sendMessage?chat_id=${to}&text=q`), sent('q'))
  t.match(await call(`sendMessage?chat_id=${to}&text=%zz`), sent('%zz'))
})

t.test('bodies that cannot be read are refused in the envelope', async (t) => {
  const unreadable = "Bad Request: can't parse the request body"
  t.match(await json('{"chat_id":'), refused(400, `${unreadable}: it is not valid JSON`))
  t.match(await json('[1]'), refused(400, `${unreadable}: a JSON object is expected`))
  t.match(await json('null'), refused(400, `${unreadable}: a JSON object is expected`))
  const deep = `{"a":${'['.repeat(101)}${']'.repeat(101)}}`
  t.match(await json(deep), refused(400, `${unreadable}: the JSON is nested too deeply`))
  t.match(await json(''), refused(400, 'Bad Request: message text is empty'))
  const utf8 = 'Bad Request: strings must be encoded in UTF-8'
  t.match(await json({ chat_id: to, text: 'a\u0000b' }), refused(400, utf8))
  t.match(await json(`{"chat_id":${to},"text":"\\ud800"}`), refused(400, utf8))
  t.match(await call(`sendMessage?chat_id=${to}&text=a%00b`), refused(400, utf8))
  t.match(await call(`sendMessage?chat_id=${to}&text=%ff`), refused(400, utf8))
  const bytes = Buffer.concat([
    Buffer.from(`{"chat_id":${to},"text":"`),
    Buffer.from([0xff]),
    Buffer.from('"}'),
  ])
  const invalid = await call('sendMessage', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: bytes,
  })
  t.match(invalid, refused(400, utf8))
})

t.test('what is too large is a 413 in the envelope, in every encoding', async (t) => {
  const big = 'x'.repeat(1_100_000)
  const tooLarge = refused(413, 'Request Entity Too Large')
  t.match(await json({ chat_id: to, text: big }), tooLarge)
  t.match(await post('application/x-www-form-urlencoded', `chat_id=${to}&text=${big}`), tooLarge)
  const { type, body } = multipart([['name="text"', big]])
  t.match(await post(type, body), tooLarge)
  const many = multipart(Array.from({ length: 51 }, (_, n) => [`name="f"; filename="${n}"`, '1']))
  t.match(await post(many.type, many.body), tooLarge)
  t.match(await json({ chat_id: to, text: 'still served' }), sent('still served'))
})

t.test(
  'the path is decoded, and the method in any letter case or among the parameters',
  async (t) => {
    const escaped = key.replace(':', '%3A')
    t.match(await raw(url, `/bot${escaped}/getMe`), { status: 200 })
    t.match(await raw(url, `/bot${key.replace(':', '%3a')}/GETME`), { status: 200 })
    t.match(await call('gEtMe'), { status: 200, body: { result: { is_bot: true } } })
    t.match(await call('?method=getMe'), { status: 200 })
    t.match(await json({ method: 'SendMessage', chat_id: to, text: 'named' }, ''), sent('named'))
    const unknown = refused(404, 'Not Found: method not found')
    t.match(await call('getMe/'), unknown)
    t.match(await call('getMe/more'), unknown)
    t.match(await call('sendNothing'), unknown)
    t.match(await call(''), unknown)
    t.match(await call('sendNothing?method=getMe'), unknown)
    t.match(await call('__proto__'), unknown)
    t.match(await raw(url, `/bot${key}`), refused(404, 'Not Found'))
    t.match(await raw(url, `/Bot${key}/getMe`), refused(404, 'Not Found'))
    t.match(await raw(url, '/bot%zz/getMe'), { status: 400, body: { ok: false, error_code: 400 } })
    t.match(await call('get%zzMe'), { status: 400, body: { ok: false, error_code: 400 } })
  },
)

t.test('other verbs are 405 in the envelope', async (t) => {
  for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    t.match(await call('getMe', { method }), refused(405, 'Method Not Allowed'), method)
  }
  t.match(await call('getMe', { method: 'HEAD' }), { status: 405, text: '' })
})

t.test('a key that is none is 401, whatever is wrong with it', async (t) => {
  const [id = '', secret = ''] = key.split(':')
  const wrong = [':', `${id}:`, `${id}:short`, `${id}:${secret}a`]
  const strange = [`${id}:${'a'.repeat(43)}`, `999999999:${secret}`, `-${key}`, '%00:a']
  for (const token of [...wrong, ...strange]) {
    t.match(await raw(url, `/bot${token}/getMe`), refused(401, 'Unauthorized'), token)
  }
  // What the reference takes for no token at all.
  const formless = ['', 'x', id, `0${id}:${secret}`, '1'.repeat(250), `${key}%2F`]
  const told = refused(401, 'Unauthorized: invalid token specified')
  for (const token of formless) {
    t.match(await raw(url, `/bot${token}/getMe`), told, token || 'none')
  }
})

t.test('every method name of the reference works or is refused as not supported', async (t) => {
  t.equal(METHOD_NAMES.length, 190)
  const platform = (await client.result('GET', '/platforms')).find(
    (one: { platform: string }) => one.platform === 'sandbox',
  )
  const supported: string[] = platform.capabilities.methods
  const known = new Set<string>([...METHOD_NAMES, ...METHODS_BEYOND])
  t.same(
    supported.filter((name) => !known.has(name)),
    [],
  )
  for (const name of METHOD_NAMES) {
    const { status, body } = await call(name.toUpperCase())
    if (supported.includes(name)) t.not(status, 404, name)
    else
      t.match(
        { status, body },
        {
          status: 400,
          body: {
            ok: false,
            error_code: 400,
            description: new RegExp(`^Bad Request: method ${name} not found on Sandbox: `),
          },
        },
      )
  }
})

t.test('JSON in a parameter that is nested too deeply counts as none', async (t) => {
  const message_ids = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
  const answer = await client.bot(key, 'deleteMessages', { chat_id: ada.id, message_ids })
  t.match(answer, { status: 400, body: { ok: false, error_code: 400 } })
})
