/** Pages in the middle of something: with a dialog, a chosen row or an opened record. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { PanelScene, troubled } from './scene.ts'

const messages = join(import.meta.dirname, '../../src/panel/i18n')

const catalogueOf = (language: string): Readonly<Record<string, string>> =>
  Object.assign(
    {},
    ...globSync(join(messages, language, '*.json')).map((path) =>
      JSON.parse(readFileSync(path, 'utf8')),
    ),
  )

/** What the panel has a hint about. */
export const subjectsOfHints = (): string[] =>
  Object.keys(catalogueOf('en'))
    .flatMap((key) => /^hint\.(\w+)\.title$/.exec(key)?.[1] ?? [])
    .sort()

/** The messages of a language by their keys. */
export function messagesIn(language: string): (key: string) => string {
  const all = catalogueOf(language)
  return (key) => {
    const message = all[key]
    if (message === undefined) throw new Error(`no message ${key}`)
    return message
  }
}

interface Moment {
  readonly address: string
  /** What a visitor does there; resolves once it is shown. */
  play(page: Page, said: (key: string) => string): Promise<void>
  /** It is longer than the screen. */
  readonly isLong?: boolean
}

type Troubled = Awaited<ReturnType<typeof troubled>>

const shown = (page: Page) => page.locator('.dialog').waitFor()

async function press(page: Page, name: string, at = 0) {
  await page.getByRole('button', { name, exact: true }).nth(at).click()
}

async function open(page: Page, content: string) {
  await page.locator('.records > li summary').first().click()
  await page.locator(content).first().waitFor()
}

/** What is looked at beside whole pages, by name. */
export function momentsOf(
  { credentialId, bannedId, key, friend, bot, gonesKey, diagnosis }: PanelScene,
  { deliveries }: Troubled,
): Readonly<Record<string, Moment>> {
  const keyPage = `/dashboard/keys/${key.api_key_id}`
  const verdict = `/dashboard/keys/${gonesKey.api_key_id}/diagnosis?diagnosis=${diagnosis.diagnosis_id}`
  return {
    'account-banned-chart': {
      address: `/dashboard/accounts/${bannedId}`,
      isLong: true,
      async play(page, said) {
        await press(page, said('account.machine.show'))
        await page.locator('.statechart .lit').waitFor()
        await page.getByText(said('history.list'), { exact: true }).click()
      },
    },
    'account-delete': {
      address: `/dashboard/accounts/${credentialId}`,
      async play(page, said) {
        await press(page, said('account.delete'))
        await shown(page)
      },
    },
    'accounts-chosen': {
      address: '/dashboard/accounts',
      async play(page) {
        for (const place of [1, 2]) await page.getByRole('checkbox').nth(place).click()
        await page.locator('.bulk-bar.some').waitFor()
      },
    },
    'accounts-restart': {
      address: '/dashboard/accounts',
      async play(page, said) {
        await page.getByRole('checkbox').nth(1).click()
        await press(page, said('bulk.restart'))
        await shown(page)
      },
    },
    palette: {
      address: '/dashboard',
      async play(page) {
        await page.keyboard.press('Control+k')
        await page.locator('.dialog').getByRole('combobox').waitFor()
        await page.keyboard.type('a')
        await page.getByRole('option').first().waitFor()
      },
    },
    shortcuts: {
      address: '/dashboard',
      async play(page) {
        await page.keyboard.press('?')
        await shown(page)
      },
    },
    attempt: {
      address: deliveries,
      isLong: true,
      play: (page) => open(page, '.records.inset pre'),
    },
    resend: {
      address: deliveries,
      async play(page, said) {
        await press(page, said('resend.title'))
        await shown(page)
        await page.locator('.dialog [role=status]', { hasText: /\S/ }).waitFor()
      },
    },
    call: {
      address: `${keyPage}?tab=requests`,
      isLong: true,
      play: (page) => open(page, '.records details[open] pre, .records details[open] .facts'),
    },
    'key-rotate': {
      address: keyPage,
      async play(page, said) {
        await press(page, said('keys.rotate'))
        await shown(page)
      },
    },
    'try-method': {
      address: `${keyPage}/try`,
      isLong: true,
      play: (page) => page.locator('form .input').first().waitFor(),
    },
    hint: {
      address: `${keyPage}?tab=webhook`,
      async play(page) {
        await page.locator('.hint-mark').first().click()
        await page.locator('.hint-text:popover-open').waitFor()
      },
    },
    verdict: {
      address: verdict,
      isLong: true,
      play: (page) => page.locator('.result').waitFor(),
    },
    'new-person': {
      address: `/dashboard/sandbox?as=${friend.id}`,
      async play(page, said) {
        await press(page, said('people.make'))
        await shown(page)
      },
    },
    faults: {
      address: `/dashboard/sandbox?as=${bot.id}`,
      async play(page, said) {
        const [before = ''] = said('faults.of').split('{name}')
        await page
          .getByRole('button', { name: new RegExp(`^${before}`) })
          .first()
          .click()
        await shown(page)
      },
    },
  }
}
