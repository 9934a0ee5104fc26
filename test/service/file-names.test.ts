/** What files are called that come along with calls: as their senders called them. */
import { Bot, InputFile } from 'grammy'
import t from 'tap'
import { Telegraf } from 'telegraf'
import { raw, scene } from './scene.ts'

const { service, ada, key } = await scene(t)
const bytes = Buffer.from('words')
const names = [
  'plain.txt',
  'my report.pdf',
  'گزارش سال ۱۴۰۵.pdf',
  'an emoji 👍 and  two spaces.txt',
  'a=b, (1) [x] 100%.txt',
]

t.test('grammY writes names without quotes', async (t) => {
  const { api } = new Bot(key, { client: { apiRoot: service.url } })
  for (const name of [...names, 'so "called".txt']) {
    const { document } = await api.sendDocument(ada.id, new InputFile(bytes, name))
    t.equal(document.file_name, name)
    t.equal(document.file_size, bytes.length)
  }
})

t.test('telegraf writes them with quotes', async (t) => {
  const { telegram } = new Telegraf(key, { telegram: { apiRoot: service.url } })
  for (const filename of [...names, 'of; parts.txt']) {
    const { document } = await telegram.sendDocument(ada.id, { source: bytes, filename })
    t.equal(document.file_name, filename)
  }
})

t.test('a download is called as its sender called it, and says its type', async (t) => {
  const { api } = new Bot(key, { client: { apiRoot: service.url } })
  for (const [name, type, ending] of [
    ['my report.pdf', 'application/octet-stream', '.pdf'],
    ['data.bin', 'application/octet-stream', '.bin'],
    ['words.txt', 'text/plain', '.txt'],
  ] as const) {
    const { document } = await api.sendDocument(
      ada.id,
      new InputFile(Buffer.from(`words of ${name}`), name),
    )
    const { file_path } = await api.getFile(document.file_id)
    t.ok(file_path?.endsWith(ending), `${file_path}`)
    const answer = await fetch(`${service.url}/file/bot${key}/${file_path}`)
    const disposition = answer.headers.get('content-disposition') ?? ''
    t.ok(disposition.includes(encodeURIComponent(name)), disposition)
    t.equal(answer.headers.get('content-type'), type, name)
    await answer.body?.cancel()
  }
})

t.test('a part without a name is a parameter, whatever it says that it is', async (t) => {
  const part = (name: string, value: string) =>
    `--b\r\ncontent-disposition: form-data; name="${name}"\r\ncontent-type: application/octet-stream\r\n\r\n${value}\r\n`
  const answer = await raw(service.url, `/bot${key}/sendMessage`, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: `${part('chat_id', `${ada.id}`)}${part('text', 'hello')}--b--\r\n`,
  })
  t.match(answer, { status: 200, body: { result: { text: 'hello' } } })
})
