/** Rich messages: sent, edited, drafted and pressed on the sandbox. */
import t from 'tap'
import { until } from '../support/client.ts'
import { refused, scene } from './scene.ts'

const { service, client, bot, ada, credentialId, key } = await scene(t, {})
const call = (method: string, body: object) => client.bot(key, method, { chat_id: ada.id, ...body })
const done = async (method: string, body: object) => {
  const { body: answer } = await call(method, body)
  if (!answer.ok) throw new Error(JSON.stringify(answer))
  return answer.result
}
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const inbox = () => client.result('GET', `/sandbox/people/${ada.id}/inbox?chat=${bot.id}`)
const buttons = { type: 'buttons', buttons: [{ text: 'Tea', callback_data: 'tea' }] }
const blocks = [
  { type: 'heading', text: 'Menu', size: 1 },
  { type: 'list', items: [{ blocks: [{ type: 'paragraph', text: 'cake' }] }] },
  buttons,
]

t.test('blocks are kept as they were given, and read by the person', async (t) => {
  const sent = await done('sendRichMessage', { rich_message: { blocks, is_rtl: true } })
  t.match(sent, {
    message_id: Number,
    rich_message: {
      is_rtl: true,
      blocks: [
        { type: 'heading', text: 'Menu', size: 1 },
        { type: 'list', items: [{ label: '•', blocks: [{ type: 'paragraph', text: 'cake' }] }] },
        buttons,
      ],
    },
  })
  t.notOk('text' in sent)
  t.match((await inbox()).messages[0], {
    text: 'Menu\n\n• cake\n\n[Tea]',
    entities: [{ type: 'bold', offset: 0, length: 4 }],
    inline_keyboard: [[{ text: 'Tea', callback_data: 'tea' }]],
  })
  const press = { chat: bot.id, message_id: sent.message_id, callback_data: 'tea', wait_seconds: 0 }
  await client.result('POST', `/sandbox/people/${ada.id}/presses`, press)
  const query = await until(async () => {
    const { body } = await client.bot(key, 'getUpdates', { offset: -1 })
    return body.result.find((one: object) => 'callback_query' in one)?.callback_query
  })
  t.match(query, { data: 'tea', message: { rich_message: { blocks: [{ type: 'heading' }] } } })
  const other = await client.ask('POST', `/sandbox/people/${ada.id}/presses`, {
    ...press,
    callback_data: 'milk',
  })
  t.equal(other.status, 400)
  await service.restart()
  await client.state(credentialId, 'active')
  t.match((await inbox()).messages[0], { text: 'Menu\n\n• cake\n\n[Tea]' })
})

t.test('files come along, whatever the form', async (t) => {
  const media = [{ id: 'one', media: { type: 'document', media: 'attach://file' } }]
  const upload = async (rich_message: object) => {
    const form = new FormData()
    form.set('chat_id', `${ada.id}`)
    form.set('rich_message', JSON.stringify(rich_message))
    form.set('file', new Blob(['hello']), 'hello.txt')
    const url = `${client.url}/bot${key}/sendRichMessage`
    return (await (await fetch(url, { method: 'POST', body: form })).json()) as {
      result: { rich_message: { blocks: { document: { file_id: string } }[] } }
    }
  }
  const shown = {
    type: 'document',
    document: { file_id: String, file_name: 'hello.txt' },
    caption: { text: 'read me' },
  }
  const markdown = '![read me](tg://document?id=one)'
  const answer = await upload({ markdown, media })
  t.match(answer, { result: { rich_message: { blocks: [shown] } } })
  const document = { type: 'document', media: 'attach://file' }
  const caption = { text: 'read me' }
  const given = { blocks: [{ type: 'document', document, caption }] }
  t.match(await upload(given), { result: { rich_message: { blocks: [shown] } } })
  const [block] = answer.result.rich_message.blocks
  const again = { type: 'document', media: block?.document.file_id }
  t.match(
    await done('sendRichMessage', {
      rich_message: { blocks: [{ type: 'document', document: again }] },
    }),
    { rich_message: { blocks: [{ document: { file_name: 'hello.txt' } }] } },
  )
  const lost = { html: '<img src="tg://photo?id=two">', media }
  t.match(
    await call('sendRichMessage', { rich_message: lost }),
    bad('rich message media "two" not found'),
  )
})

t.test('texts become rich messages by an edit, and back', async (t) => {
  const { message_id } = await done('sendMessage', { text: 'plain' })
  const rich_message = { html: '<h1>Rich</h1>' }
  const edited = await done('editMessageText', { message_id, rich_message })
  t.match(edited, {
    rich_message: { blocks: [{ type: 'heading', text: 'Rich' }] },
    edit_date: Number,
  })
  t.match(await done('editMessageText', { message_id, text: 'plain' }), { text: 'plain' })
})

t.test('a draft grows, and the message ends it', async (t) => {
  const draft = { draft_id: 7, rich_message: { markdown: '# Once' } }
  t.equal(await done('sendRichMessageDraft', draft), true)
  t.match((await inbox()).drafts, [{ draft_id: 7, text: 'Once', entities: [{ type: 'bold' }] }])
  await done('sendRichMessage', { rich_message: { markdown: '# Once upon a time' } })
  t.match(await inbox(), { drafts: { length: 0 }, messages: [{ text: 'Once upon a time' }] })
})

t.test('what is no rich message is refused', async (t) => {
  const wrong = [
    [undefined, "can't parse rich message JSON object"],
    [{}, 'rich message needs one of blocks, html and markdown'],
    [{ html: 'a', markdown: 'b' }, 'rich message needs one of blocks, html and markdown'],
    [{ blocks: [] }, 'message text is empty'],
    [{ markdown: ' ' }, 'message text is empty'],
    [{ markdown: 'x'.repeat(32_769) }, 'message is too long'],
  ] as const
  for (const [rich_message, why] of wrong) {
    t.match(await call('sendRichMessage', { rich_message }), bad(why))
  }
})
