/** Messages that are formatted as XHTML are read with their formatting, whatever they are made of. */
import { type Element, xml } from '@xmpp/client'
import t from 'tap'
import type { TextEntity } from '../../machines/model/text.ts'
import { ns } from '../../src/platforms/xmpp/namespaces.ts'
import { contentOf } from '../../src/platforms/xmpp/reading.ts'
import { readXhtml } from '../../src/platforms/xmpp/styling/xhtml.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'
import { serverUnderTest } from './xmpp/under-test.ts'

type Part = Element | string

const entity = (type: string, offset: number, length: number, more: object = {}): TextEntity => ({
  type,
  offset,
  length,
  ...more,
})
const is = (name: string, ...parts: Part[]) => xml(name, {}, ...parts)
const html = (...parts: Part[]) => xml('html', ns.xhtml, xml('body', ns.xhtmlBody, ...parts))
const message = (body: string, ...more: Element[]) => xml('message', {}, is('body', body), ...more)
const reading = (...parts: Part[]) => readXhtml(message('plain', html(...parts)))

t.test('formatting is read, and spaces as they are shown', async (t) => {
  t.strictSame(reading('a ', is('b', ' bold '), '\n  ', is('em', 'it'), is('tt', 'c')), {
    text: 'a bold itc',
    entities: [entity('bold', 2, 4), entity('italic', 7, 2), entity('code', 9, 1)],
  })
  t.strictSame(reading(is('p', 'سلام ', is('s', '👋')), is('p', 'two', is('br'), ' lines ')), {
    text: 'سلام 👋\ntwo\nlines',
    entities: [entity('strikethrough', 5, 2)],
  })
  t.strictSame(
    reading('so:', is('pre', 'let x\n  = 1'), is('blockquote', is('p', 'said')), 'end'),
    {
      text: 'so:\nlet x\n  = 1\nsaid\nend',
      entities: [entity('pre', 4, 11), entity('blockquote', 16, 4)],
    },
  )
  t.strictSame(reading(is('ul', is('li', 'one'), is('li', is('b', 'two')))), {
    text: '• one\n• two',
    entities: [entity('bold', 8, 3)],
  })
  const style = 'font-weight: bold; text-decoration:underline'
  t.match(reading(xml('span', { style }, 'x')), {
    entities: [entity('bold', 0, 1), entity('underline', 0, 1)],
  })
})

t.test('links lead where links may lead', async (t) => {
  const link = (href: string, words = 'here') => reading(xml('a', { href }, words))?.entities
  t.strictSame(link('https://x.test/a?b'), [
    entity('text_link', 0, 4, { url: 'https://x.test/a?b' }),
  ])
  t.match(link('xmpp:a@x.test'), [{ type: 'text_link' }])
  for (const href of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', '/a', '']) {
    t.strictSame(link(href), [], href)
  }
  t.strictSame(link('https://x.test', 'https://x.test'), [], 'it is its own words')
})

t.test('what is not to be read is not shown', async (t) => {
  t.match(reading('a', is('script', 'evil()'), is('style', 'p {}'), is('blink', 'b')), {
    text: 'ab',
  })
  t.match(reading(xml('img', { src: 'https://x.test/spy', alt: 'a cat' })), { text: 'a cat' })
  t.equal(reading(' ', is('p', '\n'), is('script', 'x')), undefined)
  t.equal(readXhtml(message('plain', xml('html', ns.xhtml, is('p', 'no body')))), undefined)
})

t.test('what is made to be slow is read as the plain text', async (t) => {
  const deep = Array.from({ length: 30_000 }).reduce<Element>(
    (inner) => is('b', inner),
    is('b', 'x'),
  )
  const many = Array.from({ length: 20_000 }, () => is('b', 'x'))
  const began = performance.now()
  for (const parts of [[deep], many, ['x'.repeat(70_000)]]) {
    t.match(contentOf(message('*plain*', html(...parts))), { text: 'plain' })
  }
  const large = Array.from({ length: 1_900 }, () => is('p', 'word '.repeat(6)))
  t.match(contentOf(message('plain', html(...large))), { text: /^word word/ })
  t.ok(performance.now() - began < 5_000)
})

t.test('a style that repeats itself is read once', async (t) => {
  // A pattern that tries each place in it with each other would be at it for hours.
  const style = `${'text-decoration:'.repeat(300_000)}; font-weight: Bold`
  const words = xml('span', { style }, 'words')
  t.match(contentOf(message('words', html(words))), { entities: [entity('bold', 0, 5)] })
})

t.test('an answer is read without the quotation that comes along', async (t) => {
  const fallback = xml(
    'fallback',
    { xmlns: ns.fallback, for: ns.reply },
    xml('body', { start: 0, end: 4 }),
  )
  const answer = message('> q\nyes', fallback, html(is('blockquote', 'q'), is('b', 'yes')))
  t.strictSame(contentOf(answer), { kind: 'text', text: 'yes', entities: [] })
})

t.test('a formatted message arrives as one', { skip: serverUnderTest().skip }, async (t) => {
  const network = await Network.start(t)
  const { friend, account, store, first, open } = await scene(t, network)
  const send = (words: string, formatted: string) =>
    friend.send(account.jid, words, [
      `{${ns.xhtml}}html`,
      { xml: `<body xmlns='${ns.xhtmlBody}'>${formatted}</body>` },
    ])
  const entities = [entity('bold', 0, 4), entity('text_link', 9, 4, { url: 'https://x.test/' })]
  send('*bold* and link', "<p><strong>bold</strong> and\n <a href='https://x.test/'>link</a></p>")
  t.match(await store.message('bold and link'), { message: { content: { entities } } })

  await first.stop()
  send('later', '<em>while</em> away')
  await open()
  t.match(await store.message('while away'), {
    recovered: true,
    message: { content: { entities: [entity('italic', 0, 5)] } },
  })
})
