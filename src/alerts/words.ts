/** An alert in words and as the body of a webhook. Codes travel up to here. */
import { explained } from '../credentials/reasons.ts'
import type { Due } from './outbox.ts'

interface Words {
  readonly subject: string
  readonly text: string
}

const accounts = (count: number) => (count === 1 ? '1 account is' : `${count} accounts are`)

/** States of accounts that are out without a reason. */
const states: Readonly<Record<string, string>> = {
  connecting: 'They are still connecting',
  degraded: 'They are connected, but do not work as they should',
  logged_out: 'They are signed out',
  invalid: 'They cannot be used as they are',
  failed: 'They have failed',
}

const causeOf = ({ subject }: Due) => states[subject ?? ''] ?? explained(subject, 'none').text

const shown = (time: Date | null) =>
  `${(time ?? new Date(0)).toISOString().slice(0, 16).replace('T', ' ')} UTC`

export function wordsOf(due: Due): Words {
  const since = `Incident ${due.incident_id}, since ${shown(due.opened_at)}.`
  switch (due.event) {
    case 'test':
      return {
        subject: 'Chapar: this is a test',
        text: 'This is a test. Alerts about your accounts will come here.',
      }
    case 'resolved':
      return {
        subject: 'Chapar: resolved, all accounts are back',
        text: `Resolved at ${shown(due.resolved_at)}: all accounts are back. It was: ${causeOf(due)}. ${since}`,
      }
    default: {
      const now = due.event === 'grown' ? ' now' : ''
      const headline = `${accounts(due.affected)}${now} out`
      return { subject: `Chapar: ${headline}`, text: `${headline}. ${causeOf(due)}. ${since}` }
    }
  }
}

/** As Standard Webhooks want it: type, time and data. It is the same at every attempt. */
export function bodyOf(due: Due): string {
  const { text } = wordsOf(due)
  const incident = due.incident_id !== null && {
    incident_id: due.incident_id,
    rule: due.rule,
    subject: due.subject,
    affected: due.affected,
    opened_at: due.opened_at?.toISOString() ?? null,
    resolved_at: due.event === 'resolved' ? (due.resolved_at?.toISOString() ?? null) : null,
  }
  return JSON.stringify({
    type: `alert.${due.event}`,
    timestamp: due.created_at.toISOString(),
    data: { ...incident, text },
  })
}
