/** Calls that the answer to a delivery carries, in every encoding that a call may have. */
import t from 'tap'
import { until } from '../support/client.ts'
import { Receiver } from '../webhooks/receiver.ts'
import { scene } from './scene.ts'

const { client, ada, key } = await scene(t)

interface Answer {
  readonly type: string
  readonly body: Buffer | string
}

const answers: Answer[] = []
const receiver = await Receiver.open(t, (_, response) => {
  const { type, body } = answers.shift() ?? { type: 'text/plain', body: 'nothing to say' }
  response.setHeader('content-type', type)
  response.end(body)
})
await client.bot(key, 'setWebhook', { url: receiver.url })

/** Has a delivery answered like this. */
async function answered(answer: Answer): Promise<void> {
  answers.push(answer)
  const before = receiver.received.length
  await client.write(ada.id, '@gatebot', 'a question')
  await receiver.count(before + 1)
}

async function ofForm(form: FormData): Promise<Answer> {
  const encoded = new Response(form)
  const body = Buffer.from(await encoded.arrayBuffer())
  return { type: encoded.headers.get('content-type') ?? '', body }
}

type Message = ReturnType<typeof JSON.parse>
const inbox = async (): Promise<Message[]> =>
  (await client.result('GET', `/sandbox/people/${ada.id}/inbox`)).messages
const arrives = (is: (message: Message) => boolean) => until(async () => (await inbox()).find(is))

t.test('as an urlencoded form', async (t) => {
  const form = new URLSearchParams({
    method: 'sendMessage',
    chat_id: `${ada.id}`,
    text: 'é & more',
  })
  await answered({ type: 'application/x-www-form-urlencoded', body: `${form}` })
  t.ok(await arrives(({ text }) => text === 'é & more'))
})

t.test('as multipart, with a file', async (t) => {
  const form = new FormData()
  form.set('method', 'sendDocument')
  form.set('chat_id', `${ada.id}`)
  form.set('document', 'attach://it')
  form.set('caption', 'the notes')
  form.set('it', new File(['some notes'], 'notes.txt', { type: 'text/plain' }))
  await answered(await ofForm(form))
  const arrived = await arrives(({ caption }) => caption === 'the notes')
  t.match(arrived, { media: { file_name: 'notes.txt', file_size: 10 } })
})

t.test('what is no call is an answer like any other', async (t) => {
  const refusedForm = new FormData()
  refusedForm.set('method', 'deleteWebhook')
  await answered(await ofForm(refusedForm))
  await answered({ type: 'multipart/form-data; boundary=x', body: '--x\r\nbroken' })
  await answered({ type: 'multipart/form-data', body: 'no boundary' })
  await answered({ type: 'application/json', body: '{"method":' })
  const { result } = (await client.bot(key, 'getWebhookInfo')).body
  t.equal(result.url, receiver.url)
  await until(
    async () => (await client.bot(key, 'getWebhookInfo')).body.result.pending_update_count === 0,
  )
})
