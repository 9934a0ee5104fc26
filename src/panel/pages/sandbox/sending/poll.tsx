/** The dialog in which one makes a poll or a quiz, with the files that belong to its parts. */
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useRef, useState } from 'react'
import { useT } from '../../../i18n/language.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Toggle } from '../../../ui/figure.tsx'
import { Area, Choice, Field, Form } from '../../../ui/form.tsx'
import { Wrong } from '../../../ui/states.tsx'
import type { NewContentProps } from '../new-content.tsx'
import { areTooLarge, pollMediaOf } from './files.ts'

const MOST_OPTIONS = 12
const FOR_OPTIONS = 'image/*,video/*'

interface NewPollProps extends NewContentProps {
  /** Of a quiz some option is right. Absent: one chooses. */
  readonly type?: string | undefined
}

/** Of the question, the explanation and the options, which are named by their places. */
type Files = Readonly<Record<string, File>>

interface NewPoll extends Solution {
  readonly question: string
  readonly options: readonly string[]
  readonly isQuiz: boolean
  readonly isMultiple: boolean
  readonly files: Files
}

async function pollOf(poll: NewPoll): Promise<object> {
  const { question, options, isQuiz, isMultiple, right, explanation, files } = poll
  const mediaOf = async (part: string, name = 'media') => {
    const file = files[part]
    return file && { [name]: await pollMediaOf(file) }
  }
  return {
    question: question.trim(),
    ...(await mediaOf('question')),
    options: await Promise.all(
      options.map(async (text, place) => ({ text, ...(await mediaOf(`${place}`)) })),
    ),
    ...(isQuiz
      ? {
          type: 'quiz',
          correct_option_ids: [Number(right)],
          ...(explanation.trim() && { explanation: explanation.trim() }),
          ...(await mediaOf('explanation', 'explanation_media')),
        }
      : { allows_multiple_answers: isMultiple }),
  }
}

const optionsIn = (lines: string): readonly string[] =>
  lines
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

/** The file of a part that is there no longer does not count. */
const partsOf = (files: Files, options: number, isQuiz: boolean): Files =>
  Object.fromEntries(
    Object.entries(files).filter(
      ([part]) => part === 'question' || (part === 'explanation' ? isQuiz : Number(part) < options),
    ),
  )

export function NewPollDialog({ write, type, onClose }: NewPollProps) {
  const t = useT()
  const [question, setQuestion] = useState('')
  const [lines, setLines] = useState('')
  const [isQuiz, setQuiz] = useState(type === 'quiz')
  const [isMultiple, setMultiple] = useState(false)
  const [solution, setSolution] = useState({ right: '0', explanation: '' })
  const options = optionsIn(lines)
  const { files, part } = useFiles(options.length, isQuiz)
  const isLarge = areTooLarge(Object.values(files))
  const isReady = options.length >= 2 && options.length <= MOST_OPTIONS && !isLarge
  const poll = { question, options, isQuiz, isMultiple, ...solution, files }
  const sending = useMutation({
    mutationFn: async () => write({ poll: await pollOf(poll) }),
    onSuccess: onClose,
  })
  return (
    <Dialog title={t('messenger.poll')} open onClose={onClose}>
      <Form by={sending} isReady={isReady}>
        <Field
          label={t('messenger.question')}
          required
          maxLength={300}
          autoComplete="off"
          value={question}
          onChange={(event) => setQuestion(event.target.value)}
        />
        <PartFile label={t('messenger.attachFile')} {...part('question')} />
        <OptionLines lines={lines} change={setLines} />
        <OptionFiles options={options} part={part} />
        {type === undefined && (
          <Toggle label={t('messenger.quiz')} on={isQuiz} onChange={setQuiz} />
        )}
        {isQuiz ? (
          <SolutionFields options={options} solution={solution} change={setSolution}>
            <PartFile label={t('messenger.attachToExplanation')} {...part('explanation')} />
          </SolutionFields>
        ) : (
          <Toggle label={t('messenger.multiple')} on={isMultiple} onChange={setMultiple} />
        )}
        {isLarge && <p className="wrong">{t('messenger.tooLarge')}</p>}
        <Wrong cause={sending.error} />
        <div className="actions">
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" kind="first" busy={sending.isPending} disabled={!isReady}>
            {t('messenger.send')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

function useFiles(options: number, isQuiz: boolean) {
  const [chosen, setChosen] = useState<Files>({})
  const files = partsOf(chosen, options, isQuiz)
  const part = (name: string): Part => ({
    file: files[name],
    choose: (file) => setChosen(withFile(chosen, name, file)),
  })
  return { files, part }
}

function withFile(files: Files, part: string, file: File | undefined): Files {
  const { [part]: _, ...others } = files
  return file ? { ...others, [part]: file } : others
}

interface OptionLinesProps {
  readonly lines: string
  change(lines: string): void
}

function OptionLines({ lines, change }: OptionLinesProps) {
  const t = useT()
  return (
    <Area
      label={t('messenger.options')}
      hint={t('messenger.optionsHint', { most: MOST_OPTIONS })}
      rows={4}
      dir="auto"
      required
      value={lines}
      onChange={(event) => change(event.target.value)}
    />
  )
}

interface Solution {
  readonly right: string
  readonly explanation: string
}

interface SolutionProps {
  readonly options: readonly string[]
  readonly solution: Solution
  change(solution: Solution): void
  readonly children: ReactNode
}

/** The right option of a quiz, and why it is the right one. */
function SolutionFields({ options, solution, change, children }: SolutionProps) {
  const t = useT()
  return (
    <>
      <Choice
        label={t('messenger.rightOption')}
        value={solution.right}
        options={options.map((option, place) => [`${place}`, option])}
        onChange={(right) => change({ ...solution, right })}
      />
      <Field
        label={`${t('messenger.explanation')} (${t('optional')})`}
        maxLength={200}
        dir="auto"
        autoComplete="off"
        value={solution.explanation}
        onChange={(event) => change({ ...solution, explanation: event.target.value })}
      />
      {children}
    </>
  )
}

interface Part {
  readonly file: File | undefined
  choose(file: File | undefined): void
}

interface OptionFilesProps {
  readonly options: readonly string[]
  part(name: string): Part
}

/** An option is named by its place: two may have the same text. */
const placed = (options: readonly string[]) => options.map((option, place) => ({ option, place }))

function OptionFiles({ options, part }: OptionFilesProps) {
  const t = useT()
  if (options.length === 0 || options.length > MOST_OPTIONS) return null
  return (
    <div className="stack tight">
      {placed(options).map(({ option, place }) => (
        <PartFile
          key={place}
          label={t('messenger.attachTo', { option })}
          option={option}
          accept={FOR_OPTIONS}
          {...part(`${place}`)}
        />
      ))}
    </div>
  )
}

interface PartFileProps extends Part {
  readonly label: string
  /** The option that it belongs to. */
  readonly option?: string
  readonly accept?: string
}

/** Chooses the file of one part, and takes it off again. */
function PartFile({ label, option, accept = '', file, choose }: PartFileProps) {
  const t = useT()
  const picker = useRef<HTMLInputElement>(null)
  return (
    <div className="row held part-file">
      {file ? (
        <>
          <span className="grow">
            {option !== undefined && (
              <span className="block clip quiet small" dir="auto">
                {option}
              </span>
            )}
            <span className="block clip" dir="auto">
              {file.name}
            </span>
          </span>
          <Button
            kind="bare"
            size="slim"
            icon="cross"
            aria-label={t('messenger.takeOff', { label })}
            onClick={() => choose(undefined)}
          />
        </>
      ) : (
        <Button kind="bare" size="slim" icon="clip" onClick={() => picker.current?.click()}>
          <span className="clip">{label}</span>
        </Button>
      )}
      <input
        ref={picker}
        type="file"
        hidden
        accept={accept}
        onChange={(event) => {
          choose(event.target.files?.[0])
          event.target.value = ''
        }}
      />
    </div>
  )
}
