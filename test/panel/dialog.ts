/** The dialog that is open. A toast has the role of a dialog, too, and may still be there. */
import type { Locator, Page } from 'playwright-core'

export const dialogOf = (page: Page): Locator =>
  page.getByRole('dialog').and(page.locator(':not(.toast)'))
