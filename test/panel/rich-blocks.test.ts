/** Rich messages and drafts in the sandbox's messenger: every block an element, and nothing of a bot markup. */
import t from 'tap'
import { seriousIn } from './axe.ts'
import { noBrowser } from './browser.ts'
import { chatScene } from './chat-scene.ts'

const paragraph = (text: unknown) => ({ type: 'paragraph', text })

const blocks = [
  { type: 'heading', text: 'Our menu', size: 1 },
  paragraph(['Tea is ', { type: 'bold', text: 'hot' }, ' <img src=x onerror=alert(1)>']),
  paragraph({ type: 'url', text: 'a trap', url: 'javascript:alert(1)' }),
  { type: 'list', items: [{ blocks: [paragraph('green')] }, { blocks: [paragraph('black')] }] },
  {
    type: 'table',
    cells: [
      [
        { text: 'Cup', is_header: true, align: 'left', valign: 'top' },
        { text: '2 €', align: 'right', valign: 'top' },
      ],
    ],
  },
  { type: 'blockquote', blocks: [paragraph('The best tea')], credit: 'Bela' },
  { type: 'pre', text: 'brew(tea)', language: 'js' },
  { type: 'details', summary: 'Opening hours', blocks: [paragraph('from nine to five')] },
  { type: 'divider' },
  { type: 'buttons', buttons: [{ text: 'Order', callback_data: 'order' }] },
]

t.test('a rich message is shown in blocks', { skip: noBrowser, timeout: 180_000 }, async (t) => {
  const scene = await chatScene(t, '+14155559351')
  const { page, ask, heard, line, button, complaints } = scene

  await t.test('while it is written', async () => {
    await ask('sendMessageDraft', { draft_id: 7, text: 'Our menu is' })
    await page.locator('.line.draft', { hasText: 'Our menu is' }).waitFor()
  })

  await t.test('until the reader stops it', async (t) => {
    await ask('sendMessageDraft', { draft_id: 8, text: 'Once upon a time', can_stop: true })
    const draft = page.locator('.line.draft', { hasText: 'Once upon a time' })
    await draft.getByRole('button', { name: 'Stop' }).click()
    t.match(await heard('stopped_message_generation'), { draft_id: 8 })
    await draft.waitFor({ state: 'detached' })
  })

  await t.test('when it is there', async (t) => {
    await ask('sendRichMessage', { rich_message: { blocks } })
    const menu = line('Tea is')
    await menu.getByRole('heading', { name: 'Our menu', level: 3 }).waitFor()
    t.equal(await page.locator('.line.draft').count(), 0, 'the draft is over')
    t.equal(await menu.locator('strong').innerText(), 'hot')
    t.equal(await menu.locator('img').count(), 0, 'markup stays text')
    t.equal(
      await menu.getByRole('link').count(),
      0,
      'an address that is none of the web leads nowhere',
    )
    t.same(await menu.locator('li p').allInnerTexts(), ['green', 'black'])
    await menu.getByRole('rowheader', { name: 'Cup' }).or(menu.locator('th')).first().waitFor()
    t.match(await menu.locator('blockquote').innerText(), /The best tea[\s\S]*— Bela/)
    t.equal(await menu.locator('pre code').innerText(), 'brew(tea)')
    await menu.getByText('Opening hours').click()
    await menu.getByText('from nine to five').waitFor()
    t.same(await seriousIn(page), [])
    await button('Order').click()
    t.match(await heard('callback_query'), { data: 'order' })
  })
  t.same(complaints, [], 'no script fails, and the content policy stops nothing')
})
