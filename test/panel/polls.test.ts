/** Polls and effects in the sandbox's messenger, in both languages: options are added, votes given and hidden. */
import t from 'tap'
import { callWithFiles, picture } from '../service/files.ts'
import { seriousIn } from './axe.ts'
import { noBrowser } from './browser.ts'
import { chatScene } from './chat-scene.ts'

type Box = { readonly x: number; readonly width: number }

const words = {
  en: {
    option: 'New option',
    add: 'Add an option',
    hidden: 'The votes are shown when it ends',
    added: 'added an option',
    explanation: 'Explanation',
    effect: 'Sent with an effect',
    attach: 'Attach',
    poll: 'Poll',
    question: 'Question',
    options: 'Options',
    quiz: 'Quiz',
    file: 'Attach a file',
    fileOf: 'Attach to',
    fileOfExplanation: 'Attach to the explanation',
    takeOff: 'Take off: Attach a file',
    send: 'Send',
  },
  fa: {
    option: 'گزینهٔ تازه',
    add: 'افزودن گزینه',
    hidden: 'رأی‌ها پس از پایان نشان داده می‌شوند',
    added: 'گزینه‌ای افزود',
    explanation: 'توضیح',
    effect: 'همراه با جلوه فرستاده شده',
    attach: 'پیوست',
    poll: 'نظرسنجی',
    question: 'پرسش',
    options: 'گزینه‌ها',
    quiz: 'آزمون',
    file: 'پیوست فایل',
    fileOf: 'پیوست به',
    fileOfExplanation: 'پیوست به توضیح',
    takeOff: 'برداشتن: پیوست فایل',
    send: 'ارسال',
  },
} as const

for (const [language, phone] of [
  ['en', '+14155559681'],
  ['fa', '+14155559682'],
] as const) {
  const said = words[language]
  t.test(`polls in ${language}`, { skip: noBrowser, timeout: 240_000 }, async (t) => {
    const scene = await chatScene(t, phone, { language })
    const { service, key, page, ada, ask, heard, line, complaints } = scene

    await t.test('an option is added to a poll, and voted for', async (t) => {
      const { message_id } = await ask('sendPoll', {
        ...{ question: 'Tea?', options: ['Black', 'Green'], description: 'At five' },
        ...{ is_anonymous: false, allow_adding_options: true },
      })
      await line('Tea?').getByText('At five').waitFor()
      await line('Tea?').getByLabel(said.option).fill('White')
      await line('Tea?').getByRole('button', { name: said.add }).click()
      await line('Tea?').getByRole('button', { name: 'White' }).waitFor()
      t.match(await heard('message'), {
        from: { id: ada.id },
        poll_option_added: { poll_message: { message_id }, option_text: 'White' },
      })
      await page.locator('.fact', { hasText: said.added }).getByText('White').waitFor()
      t.same(await seriousIn(page), [])
      await line('Tea?').getByRole('button', { name: 'White' }).click()
      t.match(await heard('poll_answer'), { user: { id: ada.id }, option_ids: [2] })
      const voted = /White.*(1|۱) · (100%|٪۱۰۰|۱۰۰٪)/
      await line('Tea?').getByRole('button', { name: voted }).waitFor()
    })

    await t.test('hidden votes are shown when the poll ends', async () => {
      const { message_id } = await ask('sendPoll', {
        ...{ question: 'Cake?', options: ['Yes', 'No'], is_anonymous: false },
        hide_results_until_closes: true,
      })
      await line('Cake?').getByRole('button', { name: 'Yes' }).click()
      await heard('poll_answer')
      await line('Cake?').getByText(said.hidden).waitFor()
      await ask('stopPoll', { message_id })
      await line('Cake?')
        .getByRole('button', { name: /Yes.*(1|۱) ·/ })
        .waitFor()
    })

    await t.test('a poll shows what belongs to its parts', async (t) => {
      const place = { latitude: 35.7, longitude: 51.4 }
      const quiz = {
        ...{ chat_id: ada.id, question: 'Which?', type: 'quiz', correct_option_ids: [0] },
        media: { type: 'photo', media: 'attach://picture' },
        options: [
          { text: 'House', media: { type: 'venue', ...place, title: 'Tea house', address: '1' } },
          { text: 'Page', media: { type: 'link', url: 'https://tea.example/green' } },
        ],
        ...{ explanation: 'Because', explanation_media: { type: 'location', ...place } },
      }
      const files = { picture: { bytes: await picture(), name: 'a.jpg' } }
      const sent = await callWithFiles(service.url, key, 'sendPoll', quiz, files)
      t.match(sent, { status: 200 })
      const shown = line('Which?')
      await shown.locator('img.picture[src^="blob:"]').waitFor()
      await shown.getByText('Tea house').waitFor()
      await shown.locator('a[href="https://tea.example/green"]').waitFor()
      t.notOk(await shown.getByText('Because').isVisible())
      await shown.getByText(said.explanation).click()
      await shown.getByText('Because').waitFor()
      await shown.locator('details a[href*="openstreetmap"]').waitFor()
      t.same(await seriousIn(page), [])
    })

    await t.test('a person attaches files to the parts of a quiz', async (t) => {
      const { dialog, button } = scene
      await button(said.attach).click()
      await page.getByRole('menuitem', { name: said.poll, exact: true }).click()
      const inDialog = (name: string) => dialog.getByRole('button', { name, exact: true })
      const choose = async (name: string, file: string, mimeType: string) => {
        const choosing = page.waitForEvent('filechooser')
        await inDialog(name).click()
        const buffer = await picture()
        await (await choosing).setFiles({ name: file, mimeType, buffer })
        await dialog.getByText(file, { exact: true }).waitFor()
      }
      await dialog.getByLabel(said.question).fill('Which cup?')
      await choose(said.file, 'wrong.jpg', 'image/jpeg')
      await inDialog(said.takeOff).click()
      await choose(said.file, 'rules.pdf', 'application/pdf')
      await dialog.getByLabel(said.options).fill('Blue\nGreen\nRed')
      await choose(`${said.fileOf} Green`, 'green.jpg', 'image/jpeg')
      await choose(`${said.fileOf} Red`, 'red.jpg', 'image/jpeg')
      await dialog.getByLabel(said.options).fill('Blue\nGreen')
      await dialog.getByRole('switch', { name: said.quiz }).click()
      await dialog.getByRole('textbox', { name: said.explanation }).fill('As the sea')
      await choose(said.fileOfExplanation, 'sea.jpg', 'image/jpeg')
      t.same(await seriousIn(page), [])
      await inDialog(said.send).click()
      await dialog.waitFor({ state: 'hidden' })
      const { poll } = await heard('message')
      t.match(poll, {
        question: 'Which cup?',
        type: 'quiz',
        media: { document: { file_name: 'rules.pdf' } },
        options: [
          { text: 'Blue', media: undefined },
          { text: 'Green', media: { photo: [{}] } },
        ],
      })
      const shown = line('Which cup?')
      await shown.locator('img.picture[src^="blob:"]').first().waitFor()
      await shown.getByText(said.explanation).click()
      await shown.locator('details img.picture[src^="blob:"]').waitFor()
    })

    await t.test('long options stay within a narrow window', async (t) => {
      const { dialog, button } = scene
      const long = 'A green one with a name that is much too long for a phone'
      await page.setViewportSize({ width: 320, height: 800 })
      await button(said.attach).click()
      await page.getByRole('menuitem', { name: said.poll, exact: true }).click()
      await dialog.getByLabel(said.question).fill('How long?')
      await dialog.getByLabel(said.options).fill(`Short\n${long}`)
      const box = async (found: ReturnType<typeof line>) => (await found.boundingBox())!
      const within = (inner: Box, outer: Box) =>
        inner.x >= outer.x && inner.x + inner.width <= outer.x + outer.width
      const offer = dialog.getByRole('button', { name: long })
      t.ok(within(await box(offer), await box(dialog)), 'in the dialog')
      await dialog.getByRole('button', { name: said.send, exact: true }).click()
      await dialog.waitFor({ state: 'hidden' })
      const bubble = line('How long?').locator('.bubble')
      await bubble.waitFor()
      t.ok(within(await box(bubble), { x: 0, width: 320 }), 'in the window')
      const [text, votes] = [bubble.getByText(long), bubble.locator('.number').last()]
      const [one, other] = [await box(text), await box(votes)]
      t.ok(one.x + one.width <= other.x || other.x + other.width <= one.x, 'beside its votes')
      await page.setViewportSize({ width: 1280, height: 800 })
    })

    await t.test('a message shows the effect that it came with', async (t) => {
      await ask('sendMessage', { text: 'Party!', message_effect_id: '5046509860389126442' })
      const mark = line('Party!').getByRole('img', { name: said.effect })
      t.equal(await mark.textContent(), '🎉')
      t.same(await seriousIn(page), [])
    })
    t.same(complaints, [])
  })
}
