/* services.c: a handwritten list of services that requests name (services.h). */
#include "retrieve/services.h"

#include <string.h>

#include "retrieve/words.h"

static const char services[] =
    " airbnb airtable algolia amazon ansible anthropic asana aws azure backblaze bamboohr basecamp bigquery "
    "bitbucket bitrise bluesky bugsnag calendly canva chatgpt circleci clickhouse clickup cloudflare "
    "cloudinary coda codepen codesandbox coinbase confluence contentful coursera databricks datadog deepl "
    "deezer discord doordash dropbox drupal duolingo dynamodb ebay elasticsearch elevenlabs eventbrite "
    "evernote expedia facebook fastly figma firebase flickr foursquare freshdesk freshservice gcp github "
    "gitlab gmail gocardless godaddy gofundme goodreads grafana greenhouse gsheets gusto hashicorp heroku "
    "hubspot huggingface icloud imgur instacart instagram intercom jenkins jetbrains jira kaggle klarna "
    "klaviyo kubernetes lastpass launchdarkly linkedin lyft mailchimp mailgun mariadb mastodon maxmind miro "
    "mixpanel mongodb mysql neo4j netflix netlify netsuite newrelic okta onedrive onenote openai opsgenie "
    "outlook pagerduty pandadoc paypal pinecone pinterest pipedrive plaid playstation postgres postgresql "
    "posthog postmark quickbooks rabbitmq reddit redis revolut roblox salesforce sendgrid sentry servicenow "
    "sharepoint shopify signnow skype snapchat snowflake sonos soundcloud splunk spotify squarespace "
    "stackoverflow statuspage steam strava stripe substack supabase surveymonkey tableau telegram terraform "
    "tiktok todoist trello tripadvisor trustpilot tumblr twilio twitch twitter typeform uber udemy unsplash "
    "vercel vimeo webex wechat whatsapp wikipedia woocommerce wordpress workday wrike xero yelp youtube "
    "zapier zendesk zillow zoho zotero ";

/* Names that are also English words. */
static const char words_too[] =
    " amplitude bamboo box buffer chase chime drive elastic excel front ghost gong harvest height later "
    "lattice lever linear loom medium monday nest notion obsidian oracle pocket prime quip ramp render ring "
    "segment shortcut signal slack square teams things tinder toggl wave wise word zoom ";

static const char before_names[] = " in on from to via with into using my our the a an ";
static const char before_name_ends[] = " in on from to via into using ";
static const char nouns[] = " account api app board calendar card channel chat contact dashboard database doc document "
                            "event file folder form group inbox integration invoice issue item list message meeting "
                            "note page playlist post profile project repo repository sheet space task team thread "
                            "ticket user video webhook workspace issues tickets pages messages tasks boards projects ";

bool wt__is_service(struct str word)
{
    char name[WORD_LISTED_MAX + 1];
    wt__lower_word(word, name);
    return wt__is_listed(name, services) || wt__is_listed(name, words_too);
}

bool wt__names_service(struct str text, struct str word)
{
    char name[WORD_LISTED_MAX + 1], before[WORD_LISTED_MAX + 1] = "", behind[WORD_LISTED_MAX + 1] = "";
    size_t at = 0, start = (size_t)(word.ptr - text.ptr), end = start + word.len;
    wt__lower_word(word, name);
    if (wt__is_listed(name, services))
        return true;
    if (!wt__is_listed(name, words_too))
        return false;
    for (struct str w; (w = wt__next_word(text, &at)).len > 0 && w.ptr < word.ptr;)
        wt__lower_word(w, before);
    wt__lower_word(wt__next_word(text, &end), behind);
    bool capital = word.ptr[0] >= 'A' && word.ptr[0] <= 'Z' && before[0] &&
                   !memchr(".?!\n", text.ptr[start - (start > 1 ? 2 : 0)], 4);
    bool last = behind[0] == '\0' && wt__is_listed(before, before_name_ends);
    return capital || last || (wt__is_listed(before, before_names) && wt__is_listed(behind, nouns));
}
