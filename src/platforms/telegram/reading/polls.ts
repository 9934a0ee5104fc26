/** Reads polls into the neutral model, and remembers their questions, which the network does not repeat with each result. */
import type { tl } from '@mtcute/node'
import type { Happening } from '../../../../machines/model/happening.ts'
import type { Poll, PollMedia } from '../../../../machines/model/poll.ts'
import type { Text } from '../../../../machines/model/text.ts'
import { RecentMap, ReportNames } from '../../kit/recent-map.ts'
import { textOf } from '../entities.ts'

type Standing = Pick<tl.RawMessageMediaPoll, 'poll' | 'results' | 'attachedMedia'>
type ReadMedia = (media: tl.TypeMessageMedia) => PollMedia | undefined

/** Without the message that carries the poll, its files cannot be named: they are left out. */
export function pollOf(
  { poll, results, attachedMedia }: Standing,
  read: ReadMedia = () => undefined,
): Poll {
  const answers = poll.answers.filter((answer) => answer._ === 'pollAnswer')
  const resultOf = (option: Uint8Array) =>
    results.results?.find((result) => Buffer.from(result.option).equals(option))
  const right = answers.flatMap(({ option }, place) => (resultOf(option)?.correct ? [place] : []))
  return {
    id: poll.id.toString(),
    question: formatted(poll.question),
    options: answers.map(({ text, option, media }) => ({
      text: formatted(text),
      ...asMember('media', media && read(media)),
      voters: resultOf(option)?.voters ?? 0,
    })),
    voters: results.totalVoters ?? 0,
    isClosed: poll.closed === true,
    isAnonymous: poll.publicVoters !== true,
    isQuiz: poll.quiz === true,
    isMultiple: poll.multipleChoice === true,
    ...(poll.revotingDisabled && { isRevotable: false }),
    ...(poll.openAnswers && { isOpenToOptions: true }),
    ...(poll.shuffleAnswers && { isShuffled: true }),
    ...(poll.hideResultsUntilClose && { hidesResults: true }),
    ...(poll.subscribersOnly && { isForMembers: true }),
    ...(poll.countriesIso2?.length && { countries: poll.countriesIso2 }),
    ...(right.length > 0 && { right }),
    ...(results.solution && { explanation: textOf(results.solution, results.solutionEntities) }),
    ...asMember('explanationMedia', results.solutionMedia && read(results.solutionMedia)),
    ...asMember('media', attachedMedia && read(attachedMedia)),
    ...(poll.closePeriod !== undefined && { openSeconds: poll.closePeriod }),
    ...(poll.closeDate !== undefined && { closesAt: poll.closeDate }),
  }
}

const asMember = <Name extends string>(name: Name, media: PollMedia | undefined) =>
  media ? ({ [name]: media } as Record<Name, PollMedia>) : undefined

export const formatted = ({ text, entities }: tl.TypeTextWithEntities): Text =>
  textOf(text, entities)

const REMEMBERED = 500

export class KnownPolls {
  readonly #polls = new RecentMap<string, tl.TypePoll>(REMEMBERED)
  readonly #reports = new ReportNames(REMEMBERED)

  /** Remembers polls, also those that the account itself has sent. */
  noteIn(updates: readonly tl.TypeUpdate[]): void {
    for (const update of updates) {
      const isNew = update._ === 'updateNewMessage' || update._ === 'updateNewChannelMessage'
      if (isNew) this.note(update.message)
    }
  }

  note(message: tl.TypeMessage): void {
    if (message._ !== 'message' || message.media?._ !== 'messageMediaPoll') return
    this.#note(message.media.poll)
  }

  knows({ pollId, poll }: tl.RawUpdateMessagePoll): boolean {
    return poll !== undefined || this.#polls.has(pollId.toString())
  }

  /** Undefined if the question of the poll is not known. */
  read({ pollId, poll, results }: tl.RawUpdateMessagePoll): Happening | undefined {
    if (poll) this.#note(poll)
    const known = poll ?? this.#polls.get(pollId.toString())
    if (!known) return undefined
    const state = pollOf({ poll: known, results })
    return {
      kind: 'poll',
      // The network does not number these.
      sourceKey: `p:${pollId}:${this.#reports.of(`${pollId}`, state)}`,
      direction: 'incoming',
      at: Math.floor(Date.now() / 1000),
      poll: state,
    }
  }

  #note(poll: tl.TypePoll): void {
    this.#polls.set(poll.id.toString(), poll)
  }
}
