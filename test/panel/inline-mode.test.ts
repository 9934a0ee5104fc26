/** Inline mode in the sandbox's messenger: a bot's name and a text bring results; one is picked and sent. */
import t from 'tap'
import { seriousIn } from './axe.ts'
import { noBrowser } from './browser.ts'
import { chatScene } from './chat-scene.ts'

const article = (id: string, title: string) => ({
  type: 'article',
  id,
  title,
  description: `About ${title}`,
  input_message_content: { message_text: `${title} it is` },
})

t.test('results are offered and picked', { skip: noBrowser, timeout: 180_000 }, async (t) => {
  const scene = await chatScene(t, '+14155559331')
  const { client, page, ada, ask, heard, button, line, field, complaints } = scene
  const bela = await client.person('Bela', 'bela_b')
  await page.goto(`/dashboard/sandbox?as=${ada.id}&chat=${bela.id}`)
  await field.fill('@gatebot tea')
  const query = await heard('inline_query')
  t.match(query, { query: 'tea', offset: '', from: { id: ada.id } })
  await ask('answerInlineQuery', {
    inline_query_id: query.id,
    results: [article('green', 'Green tea'), article('black', 'Black tea')],
    next_offset: '2',
    button: { text: 'All our teas', start_parameter: 'teas' },
  })
  const results = page.getByRole('group', { name: 'Results of Bot' })
  await results.getByText('About Black tea').waitFor()
  t.same(await seriousIn(page), [])
  await button('More results').click()
  const more = await heard('inline_query')
  t.match(more, { query: 'tea', offset: /^2$/ })
  const rest = { inline_query_id: more.id, results: [article('white', 'White tea')] }
  await ask('answerInlineQuery', rest)
  await results.getByRole('button', { name: 'White tea' }).click()
  await line('White tea it is').getByText('via Bot').waitFor()
  t.equal(await field.inputValue(), '')
  t.match(await heard('chosen_inline_result'), { result_id: 'white', query: 'tea' })
  const inbox = await client.result('GET', `/sandbox/people/${bela.id}/inbox`)
  t.match(inbox.messages, [{ text: 'White tea it is', via_bot: { first_name: 'Bot' } }])

  await field.fill('@gatebot coffee')
  const other = await heard('inline_query')
  const none = { inline_query_id: other.id, results: [] }
  const start = { button: { text: 'See our teas', start_parameter: 'teas' } }
  await ask('answerInlineQuery', { ...none, ...start })
  await page.getByText('The bot offers nothing for this.').waitFor()
  await button('See our teas').click()
  await page.getByRole('heading', { name: 'Bot' }).waitFor()
  await line('/start teas').waitFor()
  t.match(await heard('message'), { text: '/start teas' })
  t.same(complaints, [])
})
