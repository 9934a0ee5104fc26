/** An alert in words and as the body of a webhook. Codes travel up to here. */
import { explained } from '../credentials/reasons.ts'
import type { Due } from './outbox.ts'
import { OF_NODES, type Rule, SERVICE } from './rules.ts'

interface Words {
  readonly subject: string
  readonly text: string
}

const many = (count: number, one: string, more = `${one}s`) =>
  count === 1 ? `1 ${one}` : `${count} ${more}`
const be = (count: number) => (count === 1 ? 'is' : 'are')

interface Saying {
  /** The problem, for this number of accounts, keys or nodes. */
  headline(count: number): string
  /** The text once it is resolved; it holds for every way in which that comes about. */
  readonly resolved: string
  readonly cause: string
}

const sayings: Readonly<Record<Exclude<Rule, 'account_out'>, Saying>> = {
  account_deaf: {
    headline: (count) => `${many(count, 'account')} ${be(count)} deaf`,
    resolved: 'each account hears again, or was deactivated or deleted',
    cause: 'They are connected, but nothing comes',
  },
  reconnect_loop: {
    headline: (count) =>
      `${many(count, 'account')} ${count === 1 ? 'loses its' : 'lose their'} connection again and again`,
    resolved: 'each account has stayed connected, or was deactivated or deleted',
    cause: 'Each was lost five times or more, within 15 minutes of the time before',
  },
  webhook_failing: {
    headline: (count) => `${many(count, 'webhook')} ${be(count)} failing`,
    resolved: 'each webhook takes updates again, was set anew, or is no longer used',
    cause:
      'The endpoint has taken nothing for five minutes; it is tried again for 7 days at most, then the webhook is suspended until it is set again',
  },
  backlog_old: {
    headline: (count) => `${many(count, 'bot')} ${be(count)} behind`,
    resolved: 'each bot has caught up, or polls no more',
    cause:
      'Updates wait that the bot has not confirmed: is it still running, and does it move its offset?',
  },
  updates_cut: {
    headline: (count) => `updates of ${many(count, 'API key')} were removed unread`,
    resolved: 'no further updates were removed unread for an hour, or the key is no longer used',
    cause: 'They were older, or more, than the service keeps',
  },
  node_lost: {
    headline: () => 'a node is lost',
    resolved: 'the node is back, or has been gone for a day',
    cause: 'It stopped without a word; the others have taken its accounts over',
  },
  disk_full: {
    headline: () => 'a disk is nearly full',
    resolved: 'the disk has room again, or its node has stopped',
    cause: 'Less than a tenth and less than 5 GB are free in DATA_DIR',
  },
}

function sayingOf(due: Due): Saying {
  const { rule } = due
  if (rule === null || rule === 'account_out') {
    return {
      headline: (count) => `${many(count, 'account')} ${be(count)} out`,
      resolved: 'each account is back, or was deactivated or deleted',
      cause: causeOf(due),
    }
  }
  const saying = sayings[rule]
  return OF_NODES.includes(rule) ? { ...saying, cause: `${due.subject}: ${saying.cause}` } : saying
}

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

/** Whether a notification to an operator is about accounts or keys of others. */
const isOfOthers = ({ owner_id: owner, rule }: Due) =>
  owner === SERVICE && rule !== null && !OF_NODES.includes(rule)

export function wordsOf(due: Due): Words {
  const whose = isOfOthers(due) ? ' of other users' : ''
  const since = `Incident ${due.incident_id}${whose}, since ${shown(due.opened_at)}.`
  switch (due.event) {
    case 'test':
      return {
        subject: 'Chapar: this is a test',
        text: 'This is a test. Alerts about your accounts will come here.',
      }
    case 'resolved': {
      const { resolved, cause } = sayingOf(due)
      return {
        subject: `Chapar: resolved, ${resolved}`,
        text: `Resolved at ${shown(due.resolved_at)}: ${resolved}. It was: ${cause}. ${since}`,
      }
    }
    default: {
      const { headline, cause } = sayingOf(due)
      const now = due.event === 'grown' ? 'Now ' : ''
      const line = headline(due.affected)
      return { subject: `Chapar: ${line}`, text: `${now}${line}. ${cause}. ${since}` }
    }
  }
}

/** As Standard Webhooks want it: type, time and data. It is the same at every attempt. */
export function bodyOf(due: Due, page: string): string {
  const { text } = wordsOf(due)
  const incident = due.incident_id !== null && {
    incident_id: due.incident_id,
    scope: due.owner_id === SERVICE ? 'service' : 'own',
    rule: due.rule,
    subject: due.subject,
    affected: due.affected,
    opened_at: due.opened_at?.toISOString() ?? null,
    resolved_at: due.event === 'resolved' ? (due.resolved_at?.toISOString() ?? null) : null,
  }
  return JSON.stringify({
    type: `alert.${due.event}`,
    timestamp: due.created_at.toISOString(),
    data: { ...incident, text, url: page },
  })
}
