import { labelOf } from '../../../src/conversation/registry.ts'

/** Control and direction characters that would change how the surrounding text reads. */
const unseen = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu

/** Untrusted text as one line: nothing in it can hide or reorder the text around it. */
export const line = (text: string): string => text.replace(/\s+/gu, ' ').replace(unseen, '\ufffd').trim()

/** Untrusted text that keeps its lines and its indentation. */
export const block = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((one) => one.replaceAll('\t', '  ').replace(unseen, '\ufffd'))
    .join('\n')

export const subjectOf = (subject: string): string => line(subject) || '(no subject)'

/** The hub's messages start in lower case. Names such as `limits.inbox` are left alone. */
export const sentence = (text: string): string =>
  text.replace(/^[a-z](?=[a-z']* )/, (letter) => letter.toUpperCase()).replace(/(?<=[\w"'`)])$/, '.')

export const plural = (n: number, one: string, many = `${one}s`): string =>
  `${n.toLocaleString('en')} ${n === 1 ? one : many}`

export const typeName = (type: string): string => line(labelOf(type))

/** 1200 as 1.2K, where space is limited. */
const compactly = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
export const compact = (n: number): string => compactly.format(n)
