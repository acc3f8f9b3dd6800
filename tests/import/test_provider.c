/* Tests of short provider names, with titles and hosts of real OpenAPI documents and some invented ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "import/internal.h"

static const struct {
    const char *title, *url, *stem, *provider;
} real[] = {
    {"GitHub's official OpenAPI spec", "https://api.github.com", "api.github.com", "github"},
    {"GitHub's official OpenAPI spec + Octokit extension", "https://api.github.com", "api.github.com", "github"},
    {"Swagger Petstore - OpenAPI 3.0", "/api/v3", "petstore", "petstore"},
    {"Discord HTTP API (Preview)", "https://discord.com/api/v10", "openapi", "discord"},
    {"The Jira Cloud platform REST API", "https://your-domain.atlassian.net", "swagger-v3", "jira-cloud-platform"},
    {"GitHub v3 REST API", "https://api.github.com", "api.github.com", "github"},
    {"Stripe API", "https://api.stripe.com/", "stripe.com", "stripe"},
    {"Slack Web API", "https://slack.com/api", "slack.com", "slack-web"},
    {"Spotify Web API with fixes and improvements from sonallux", "https://api.spotify.com/v1", "sonallux", "spotify"},
    {"Twilio - Accounts", "https://accounts.twilio.com", "twilio_accounts_v1", "twilio-accounts"},
    {"Twilio - Api", "https://api.twilio.com", "api", "twilio"},
    {"Kubernetes", "//kubernetes.local", "kubernetes.io", "kubernetes"},
    {"DigitalOcean API", "https://api.digitalocean.com", "digitalocean.com", "digitalocean"},
    {"JIRA 7.6.1", "http://jira.local:8080/jira/rest", "jira.local", "jira"},
    {"DocuSign REST API", "https://www.docusign.net/restapi", "docusign.net", "docusign"},
    {"Gmail API", "https://gmail.googleapis.com/", "gmail", "gmail"},
    {"Zoom API", "https://api.zoom.us/v2", "zoom.us", "zoom"},
    {"OpenAI API", "https://api.openai.com/v1", "openai.com", "openai"},
    {"Telegram Bot API", "https://api.telegram.org/bot{token}", "telegram.org", "telegram-bot"},
    {"Bitbucket API", "https://api.bitbucket.org/2.0", "bitbucket.org", "bitbucket"},
    {"Notion API", "https://api.notion.com", "notion.com", "notion"},
    {"Box Platform API", "https://api.box.com/2.0", "box.com", "box-platform"},
    {"Amazon Elastic Compute Cloud", "http://ec2.{region}.amazonaws.com", "ec2", "amazon-elastic-compute-cloud"},
    {"APOD", "https://api.nasa.gov/planetary", "apod", "apod"},
    {"Mailchimp Marketing API", "https://server.api.mailchimp.com/3.0", "mailchimp.com", "mailchimp-marketing"},
    {"Trello", "https://trello.com/1", "trello.com", "trello"},
    {"Asana", "https://app.asana.com/api/1.0", "asana.com", "asana"},
    {"BBC iPlayer Business Layer", "https://ibl.api.bbci.co.uk/ibl/v1", "bbci.co.uk", "bbc-iplayer-business-layer"},
    {"Article Search API", "http://api.nytimes.com/svc/search/v2", "article_search", "article-search"},
    {"MasterCard ABU API", "https://api.mastercard.com/maws", "MAWS", "mastercard-abu"},
    {"Mizoram State Board of School education", "https://apisetu.gov.in/mbse/v3", "mbse", "apisetu"},
    {"Amazon Kinesis Video Signaling Channels", "http://kinesisvideo.{region}.amazonaws.com", "kinesis-video-signaling",
     "kinesisvideo"},
    {"Flat API", "https://api.flat.io/v2", "flat.io", "flat"},
    {"import.io", "https://data.import.io", "data", "import.io"},
    {"API for the Settlement Currency Rate converter", "//api.mastercard.com/mcapi/settlement/currencyrate",
     "CurrencyConversionCalculator", "settlement-currency-rate-converter"},
    {"Open States API v3", "", "openstates.org", "open-states"},
    {"Dados Abertos - API", "/api", "dados-abertos", "dados-abertos"},
};

static const struct {
    const char *what, *title, *url, *stem, *provider;
} made[] = {
    {"no title, URL or file name", "", "", "", ""},
    {"file name only", "", "", "my_tools", "my-tools"},
    {"parentheses after a name are dropped", "Weather (Preview)", "", "file", "weather"},
    {"parentheses after a generic word are used", "API (Weather)", "", "file", "weather"},
    {"generic file name only", "", "", "openapi", "openapi"},
    {"generic title: host used", "REST API", "https://api.acme.co.uk/v1", "openapi", "acme"},
    {"generic title and example host: file name used", "API", "https://api.example.com", "acme-openapi", "acme"},
    {"generic title and file name, no host: file name used", "API", "/v1", "openapi", "openapi"},
    {"sentence as title: host used", "Everything that one may ever want to know of cats",
     "https://user@cats.org:8080/x", "file", "cats"},
    {"sentence as title, no host: file name used", "Everything that one may ever want to know of cats", "/", "cats.v2",
     "cats.v2"},
    {"sentence as title, no host or file name: first words used", "Everything that one may ever want to know of cats",
     "", "", "everything-that-one-may"},
    {"host with a template variable", "", "https://{tenant}.crm.acme.com", "x", "acme"},
    {"shared host: subdomain used", "", "https://things.herokuapp.com", "x", "things"},
    {"IP address: file name used", "", "http://127.0.0.1:8080", "x", "x"},
    {"localhost: file name used", "", "http://localhost/v1", "x", "x"},
    {"title in another script", "\xe5\xa4\xa9\xe6\xb0\x94 API", "", "", "\xe5\xa4\xa9\xe6\xb0\x94"},
    {"capital letters beyond ASCII", "\xc3\x89t\xc3\xa9", "", "", "\xc3\xa9t\xc3\xa9"},
    {"invalid UTF-8 in title and host",
     "\xff"
     "cat\xfe",
     "//\xff.\xfe", "b", "cat"},
    {"invalid UTF-8 in the host: file name used", "", "//\xff.\xfe", "b", "b"},
    {"possessive in the title", "Acme\xe2\x80\x99s API", "", "", "acme"},
};

static void check_provider(const char *what, const char *title, const char *url, const char *stem, const char *provider)
{
    struct buffer out = {0};
    wt__short_provider(&out, wt__str(title), wt__str(url), wt__str(stem));
    if (!wt__str_equal(wt__buffer_view(&out), wt__str(provider)))
        fail_msg("%s: %s, not %s", what, out.ptr ? out.ptr : "", provider);
    wt__buffer_dispose(&out);
}

static void documents_get_short_provider_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof real / sizeof real[0]; i++)
        check_provider(real[i].title, real[i].title, real[i].url, real[i].stem, real[i].provider);
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        check_provider(made[i].what, made[i].title, made[i].url, made[i].stem, made[i].provider);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_get_short_provider_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
